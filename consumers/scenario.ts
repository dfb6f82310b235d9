/**
 * What every program does with its client: two operations, pages, a file, a post with one, errors known by their class and
 * by their tag, a wait for a rate limit. It is the same on every runtime and in every bundle, so it takes what the program
 * imported as an argument, and imports nothing but types. Each program has it beside itself when it runs, as TypeScript and as JavaScript.
 */
import type * as Postwire from "@postwire/node"

export interface Exports {
  readonly BadRequest: typeof Postwire.BadRequest
  readonly createClient: (settings: Settings) => Client
  readonly InvalidParameters: typeof Postwire.InvalidParameters
}

export type Settings = Pick<Postwire.Settings, "baseUrl" | "bearerToken" | "waitOnRateLimit" | "onRateLimit">

type Client = Pick<
  Postwire.PostwireClient,
  "getMe" | "getUser" | "getPost" | "searchRecentPosts" | "uploadMedia" | "publish" | "close"
>

/** A GIF of one pixel, which may be followed by anything. */
const dot = Uint8Array.from(
  atob("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"),
  (byte) => byte.charCodeAt(0)
)

/** Bun, Deno and Node know their versions, browsers and Workers what they call themselves. */
const runtime = (): string => {
  const { bun, deno, node }: Partial<Record<string, string>> = Reflect.get(globalThis, "process")?.versions ?? {}
  if (bun !== undefined) return `Bun ${bun}`
  if (deno !== undefined) return `Deno ${deno}`
  if (node !== undefined) return `Node ${node}`
  const { userAgent }: { readonly userAgent: string } = Reflect.get(globalThis, "navigator")
  return /Chrome\/[\d.]+/.exec(userAgent)?.[0] ?? userAgent
}

const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(() => new Error("the call did not fail"), (error: unknown) => error)

const tagOf = (error: unknown) =>
  typeof error === "object" && error !== null && "_tag" in error ? error._tag : undefined

/** Does all of it, and returns what it came to, for whoever started the program to compare. */
export const scenario = async ({ BadRequest, createClient, InvalidParameters }: Exports, settings: Settings) => {
  const waits: Array<string> = []
  const client = createClient({
    ...settings,
    waitOnRateLimit: true,
    onRateLimit: (change) => {
      if (change._tag === "Waiting") waits.push(change.operation)
    }
  })
  // Refused at first, for a second.
  const { data: me } = await client.getMe({ user_auth: false })
  const { data: user } = await client.getUser({ username: "ada", user_fields: ["description"] })
  const posts = new Set<string>()
  for await (const { id } of client.searchRecentPosts.items({ query: "effect", max_results: 10 })) {
    if (posts.add(id).size === 25) break
  }
  const upload = { media: new Blob([dot, dot]), media_category: "tweet_image", user_auth: false } as const
  const { data: uploaded } = await client.uploadMedia(upload)
  const picture = { file: new Blob([dot]), alt: "A dot" }
  const published = await client.publish({ text: "A dot", media: [picture] }, { user_auth: false })
  const refused = await failureOf(client.searchRecentPosts({ query: "(" }))
  const invalid = await failureOf(client.getPost({ id: "../" }))
  await client.close()
  const closed = await failureOf(client.getMe())
  return {
    runtime: runtime(),
    waits,
    me: me?.username,
    user: user?.name,
    posts: posts.size,
    uploaded: uploaded?.size,
    published: [published.text, ...published.media.map(({ type }) => type)],
    errors: [
      [refused instanceof BadRequest, refused instanceof Error, tagOf(refused)],
      [invalid instanceof InvalidParameters, invalid instanceof TypeError, tagOf(invalid)],
      [tagOf(closed)]
    ]
  }
}

/** The settings of the sandbox, from an environment. */
export const settingsOf = (environment: Readonly<Record<string, string | undefined>>): Settings => ({
  baseUrl: environment["POSTWIRE_BASE_URL"],
  bearerToken: environment["POSTWIRE_BEARER_TOKEN"]
})
