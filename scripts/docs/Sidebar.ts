/** The guides, in the order in which they are needed. */
const guides: ReadonlyArray<{ readonly label: string; readonly ids: ReadonlyArray<string> }> = [
  {
    label: "Start here",
    ids: [
      "start",
      "credentials",
      "sign-in",
      "client",
      "pages",
      "rate-limits",
      "errors",
      "retries",
      "publish",
      "lists",
      "streams",
      "shared-streams",
      "rules",
      "spend"
    ]
  },
  { label: "More ways to call", ids: ["blocking", "effect", "undeclared", "web", "bundling"] },
  { label: "Testing", ids: ["testing", "sandbox", "console"] },
  { label: "Exports", ids: ["export", "hydrate", "compliance", "cluster"] },
  { label: "Recipes", ids: ["recipes", "from-tweepy", "from-twitter-api-v2"] },
  { label: "Tools", ids: ["cli", "drift", "bench"] },
  { label: "Project", ids: ["versions", "SECURITY", "CONTRIBUTING", "architecture"] }
]

const overviews = ["reference", "reference/resources", "reference/settings", "reference/layers"]

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
    { label: "Decisions", ids: ["adr", ...below("adr")], collapsed: true }
  ]
  const listed = all.flatMap(({ ids }) => ids)
  const missing = ids.filter((id) => id !== "index" && !listed.includes(id))
  if (missing.length > 0) throw new Error(`Not in Sidebar.ts: ${missing.join(", ")}`)
  const gone = listed.filter((id) => !ids.includes(id))
  if (gone.length > 0) throw new Error(`In Sidebar.ts, and not there: ${gone.join(", ")}`)
  return all
}
