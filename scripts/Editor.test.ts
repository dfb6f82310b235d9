// The hover texts of editors, from the compiler's own language server.
import { describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath, pathToFileURL } from "node:url"
import { afterAll, beforeAll, expect } from "vitest"

const root = fileURLToPath(new URL("../examples/", import.meta.url))

const program = `
import { createClient } from "@postwire/node"
import { createClientSync } from "@postwire/sync"
import { Posts } from "@postwire/core"
const client = createClient()
await client.getUser({ username: "ada" })
await client.searchRecentPosts({ query: "a", max_results: 10, start_time: new Date() })
await client.follow({ target_user_id: "1" })
createClientSync().getPosts({ ids: ["1"] })
Posts.getPost({ id: "1" })
await client.publish({ text: "a" })
await client.compliance.wait({ id: "1" })
createClientSync().publishThread([], { key: "a" })
await client.searchAllPosts({ query: "b", next_token: "c", post_fields: ["lang"] })
export const effect = Posts.getPost({ id: "2" })
;(await client.getPost({ id: "3", post_fields: ["lang"] })).data?.created_at
`

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: { readonly items?: ReadonlyArray<unknown> }
  readonly result?: {
    readonly contents?: { readonly value: string }
    readonly items?: ReadonlyArray<{ readonly severity: number; readonly message: string }>
  } | null
}

/** Asks the language server of the workspace's compiler. */
const open = () => {
  const child = spawn("tsc", ["--lsp", "--stdio"], { cwd: root, stdio: ["pipe", "pipe", "ignore"] })
  const waiting = new Map<number, (message: Message) => void>()
  let received = Buffer.alloc(0)
  let last = 0
  const send = (message: object) => {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message })
    child.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  }
  child.stdout.on("data", (bytes: Buffer) => {
    received = Buffer.concat([received, bytes])
    for (;;) {
      const start = received.indexOf("\r\n\r\n") + 4
      const length = Number(/Content-Length: (\d+)/i.exec(received.toString("latin1", 0, start))?.[1])
      if (start < 4 || received.length < start + length) return
      const message: Message = JSON.parse(received.toString("utf8", start, start + length))
      received = received.subarray(start + length)
      if (message.id === undefined) continue
      // Requests of the server get empty responses.
      if (message.method === undefined) waiting.get(message.id)?.(message)
      else send({ id: message.id, result: message.params?.items?.map(() => null) ?? null })
    }
  })
  return {
    notify: (method: string, params: object) => send({ method, params }),
    request: (method: string, params: object) =>
      new Promise<Message>((resolve) => {
        waiting.set(++last, resolve)
        send({ id: last, method, params })
      }),
    close: async () => {
      child.kill()
      await once(child, "exit")
    }
  }
}

describe.skipIf(process.env["POSTWIRE_LONG"] === undefined)("in an editor: npm run test:long", () => {
  const uri = pathToFileURL(`${root}hover.ts`).href
  let server: ReturnType<typeof open>

  beforeAll(async () => {
    server = open()
    await server.request("initialize", {
      processId: process.pid,
      rootUri: pathToFileURL(root).href,
      capabilities: { textDocument: { hover: { contentFormat: ["markdown"] } } }
    })
    server.notify("initialized", {})
    server.notify("textDocument/didOpen", {
      textDocument: { uri, languageId: "typescript", version: 1, text: program }
    })
  }, 120_000)
  afterAll(() => server.close())

  const hover = async (words: string) => {
    const before = program.slice(0, program.indexOf(words) + words.length - 1).split("\n")
    const position = { line: before.length - 1, character: before.at(-1)?.length }
    const { result } = await server.request("textDocument/hover", { textDocument: { uri }, position })
    return result?.contents?.value
  }

  it("methods of every client and their parameters have their documentation", async () => {
    expect(await hover("client.getUser")).toContain("Looks one user up, by exactly one of `id` and `username`.")
    expect(await hover("client.getUser")).toContain(`client.getUser({ username: "ada"`)
    expect(await hover("client.follow")).toContain("@deprecated")
    expect(await hover("max_results")).toContain("A whole number from 10 to 100; default 10.")
    expect(await hover("start_time")).toContain("A Date, a DateTime or an RFC 3339 string")
    expect(await hover("next_token")).toContain("A token as the service returned it.")
    expect(await hover("next_token: \"c\", post_fields")).toContain("Fields of posts to return")
    expect(await hover("createClientSync().getPosts")).toContain("Looks up to 100 posts up.")
    expect(await hover("client.publish")).toContain("Publishes a post with its files and its poll.")
    expect(await hover("client.compliance.wait")).toContain("Waits until a job is complete")
    expect(await hover("createClientSync().publishThread")).toContain(
      "Publishes posts, each in reply to the one before."
    )
    expect(await hover("Posts.getPost")).toContain("Looks one post up")
  }, 120_000)

  it("an Effect has the names of its errors", async () => {
    expect(await hover("effect")).toContain(
      `Response<Fields<"post", "ask for others in post_fields", "edit_history_post_ids" | "id" | "text">, {}>, BadRequest | Forbidden | `
        + "InvalidParameters | LoginRequired | MissingAccessToken | MissingScope | NotFound | PaymentRequired | RateLimitWaitTooLong | "
        + "RateLimited | ServerFailure | SpendLimitReached | StorageFailure | TransportFailure | Unauthorized | UndecodableResponse | "
        + "UnexpectedStatus, Client>"
    )
  })

  it("the compiler gives advice", async () => {
    const { result } = await server.request("textDocument/diagnostic", { textDocument: { uri } })
    const errors = result?.items?.filter(({ severity }) => severity === 1)
    expect(errors?.map(({ message }) => message)).toEqual([
      `Property 'created_at' does not exist on type 'Fields<"post", "ask for others in post_fields", "edit_history_post_ids" | "id" | "lang" | "text">'.`
    ])
  }, 120_000)
})
