/** A streaming service whose items and connections a test controls. */
import { Effect } from "effect"
import { type Answer, make, type Outcome, transportError } from "./Service.ts"

/** One connection of a stream. */
export interface Line {
  readonly query: Readonly<Record<string, string>>
  readonly send: (text: string) => void
  /** Sends posts, one per line. */
  readonly post: (...posts: ReadonlyArray<Posted>) => void
  /** Ends the body regularly. */
  readonly end: () => void
  /** Breaks the connection. */
  readonly cut: () => void
  /** True if either side has ended it. */
  readonly isClosed: () => boolean
}

/** A post, and the tags of the rules that it matches. */
export interface Posted {
  readonly id: string
  readonly created_at?: string
  readonly tags?: ReadonlyArray<string>
}

/** The response to a request to connect: a stream, a refused connection, or an error. */
export type Connect = "accept" | "refuse" | Answer

/** The line of a post. */
export const lineOf = ({ tags = ["t"], ...post }: Posted): string =>
  `${
    JSON.stringify({ data: { text: "x", ...post }, matching_rules: tags.map((tag) => ({ id: `r-${tag}`, tag })) })
  }\r\n`

/**
 * `connect` says what becomes of each request to connect, `other` answers all other requests, `date` is the time that a
 * connection states.
 */
export const streaming = (
  connect: (index: number) => Connect,
  other: (path: string, query: Readonly<Record<string, string>>, body: string) => Outcome = () => ({ status: 404 }),
  date: () => number | undefined = () => undefined
) => {
  const lines: Array<Line> = []
  let connects = 0
  const service = make(({ body, path, query }) => {
    if (!path.endsWith("/stream")) return other(path, query, body)
    const answer = connect(connects++)
    if (answer === "refuse") return transportError(Object.assign(new Error("refused"), { code: "ECONNREFUSED" }))
    if (answer !== "accept") return answer
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined
    let isClosed = false
    const encoder = new TextEncoder()
    const stream = new ReadableStream<Uint8Array>({
      start: (own) => {
        controller = own
      },
      cancel: () => {
        isClosed = true
      }
    })
    const send = (text: string) => {
      if (!isClosed) controller!.enqueue(encoder.encode(text))
    }
    const over = (how: () => void) => {
      if (isClosed) return
      isClosed = true
      how()
    }
    lines.push({
      query,
      send,
      post: (...posts) => send(posts.map(lineOf).join("")),
      end: () => over(() => controller!.close()),
      cut: () => over(() => controller!.error(new Error("reset"))),
      isClosed: () => isClosed
    })
    const stated = date()
    return {
      status: 200,
      body: stream,
      ...(stated === undefined ? {} : { headers: { date: new Date(stated).toUTCString() } })
    }
  })
  return { ...service, lines, connects: () => connects }
}

/** Lets what is on its way arrive: bodies come by promises, which no clock moves. */
export const settle: Effect.Effect<void> = Effect.promise(async () => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
})
