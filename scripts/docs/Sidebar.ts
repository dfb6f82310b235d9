/** The guides, in the order in which they are needed. */
const guides: ReadonlyArray<{ readonly label: string; readonly ids: ReadonlyArray<string> }> = [
  {
    label: "Tutorials",
    ids: [
      "tutorials/1-first-call",
      "tutorials/2-bot",
      "tutorials/3-export",
      "tutorials/4-stream",
      "tutorials/5-events",
      "tutorials/6-agent",
      "tutorials/7-copy"
    ]
  },
  {
    label: "Start here",
    ids: [
      "start",
      "credentials",
      "sign-in",
      "plans",
      "client",
      "pages",
      "rate-limits",
      "errors",
      "retries",
      "publish",
      "articles",
      "lists",
      "streams",
      "shared-streams",
      "rules",
      "events",
      "listen",
      "chat",
      "spend"
    ]
  },
  { label: "More ways to call", ids: ["blocking", "effect", "undeclared", "web", "bundling"] },
  { label: "Agents", ids: ["agents", "prompt-injection"] },
  { label: "Testing", ids: ["testing", "sandbox", "coverage", "console"] },
  { label: "Exports", ids: ["export", "hydrate", "archive", "connectors", "compliance", "cluster"] },
  { label: "Recipes", ids: ["recipes", "research", "from-tweepy", "from-twitter-api-v2"] },
  { label: "Tools", ids: ["cli", "telemetry", "drift", "bench", "proof"] },
  { label: "Project", ids: ["trust", "versions", "policies", "SECURITY", "CONTRIBUTING", "architecture"] }
]

const overviews = ["reference", "reference/resources", "reference/settings", "reference/layers"]

/** How much the words of a page count in the search, where that is less: guides come before what lists everything. */
const weights: ReadonlyArray<readonly [RegExp, number]> = [
  [/^adr\/|^errors\/|^from-/, 0.1],
  [/^$|^CONTRIBUTING|^architecture|^bench|^events|^tutorials/, 0.4],
  [/^reference|^sandbox|^cli/, 0.6]
]

/** How much the words of a page count in the search. */
export const weightOf = (id: string): number => weights.find(([ids]) => ids.test(id))?.[1] ?? 1

/** How much the title of a page and the words that people look for count. */
export const titleWeightOf = (id: string): number => 10 * (id in sought || id.startsWith("errors/") ? 1 : weightOf(id))

/** Words that people look for and that a page has in others, or seldom. Their weight is that of the title. */
const sought: Readonly<Record<string, string>> = {
  articles: "markdown md long text draft",
  agents: "mcp model context protocol ai llm claude cursor copilot tools skill",
  archive: "backup copy sync incremental sqlite database mirror own data takeout bookmarks",
  chat: "xchat encrypted dm direct message passcode pin juicebox end-to-end e2e",
  connectors: "singer tap airbyte source meltano etl elt warehouse bigquery snowflake",
  errors: "catch exception",
  events: "webhook webhooks mention notification account activity crc challenge",
  export: "csv parquet sqlite download archive",
  listen: "webhook local tunnel ngrok forward trigger replay stripe",
  research: "academic researcher data set study cost price university twarc",
  sandbox: "mock server python pytest go java local",
  plans: "tier enterprise self-serve pay-per-use free basic pro forbidden reply",
  "sign-in": "refresh token login oauth2 pkce",
  spend: "price cost dollars bill",
  start: "install setup getting started quickstart",
  streams: "stream disconnect reconnect realtime",
  telemetry: "opentelemetry otel otlp prometheus grafana monitoring dashboard observability tracing span",
  testing: "mock vitest jest",
  web: "cloudflare workers deno bun react native"
}

/** The words by which a page is found besides its own: the names of operations are words, and a post was a tweet. */
export const wordsOf = (id: string): string => {
  if (!id.startsWith("reference/")) return sought[id] ?? ""
  const words = id.replace("reference/", "").replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase()
  const old = words.replace("repost", "retweet").replace("post", "tweet")
  return old === words ? words : `${words} ${old}`
}

/** A heading of the list with its pages. */
export interface Group {
  readonly label: string
  readonly ids: ReadonlyArray<string>
  readonly collapsed: boolean
}

/** The list for the pages that there are. Throws where a page is in no group, or a group has a page that is not there. */
export const groups = (ids: ReadonlyArray<string>): ReadonlyArray<Group> => {
  const below = (folder: string) => ids.filter((id) => id.startsWith(`${folder}/`)).sort()
  const all = [
    ...guides.map((group) => ({ ...group, collapsed: false })),
    { label: "Reference", ids: [...new Set([...overviews, ...below("reference")])], collapsed: true },
    { label: "Errors", ids: below("errors"), collapsed: true },
    { label: "Decisions", ids: ["adr", ...below("adr")], collapsed: true }
  ]
  const listed = all.flatMap(({ ids }) => ids)
  const missing = ids.filter((id) => id !== "index" && !listed.includes(id))
  if (missing.length > 0) throw new Error(`Not in Sidebar.ts: ${missing.join(", ")}`)
  const gone = listed.filter((id) => !ids.includes(id))
  if (gone.length > 0) throw new Error(`In Sidebar.ts, and not there: ${gone.join(", ")}`)
  return all
}
