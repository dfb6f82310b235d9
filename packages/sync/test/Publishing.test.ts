import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { createClient, fromEnvironment } from "@postwire/node"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createReadStream, mkdtempSync, openAsBlob, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { pathToFileURL } from "node:url"
import { concat, png } from "../../core/test/support/MediaBytes.ts"
import * as Sync from "../src/index.ts"
import { startSandbox, stop } from "./support/Children.ts"
import { thrown } from "./support/Thrown.ts"

let sandbox: Awaited<ReturnType<typeof startSandbox>>
let folder: string

const picture = png()
/** Longer than a segment may be, so that there are two. */
const long = concat(picture, new Uint8Array(1_500_000))

beforeAll(async () => {
  sandbox = await startSandbox()
  folder = mkdtempSync(join(tmpdir(), "postwire-publishing-"))
  writeFileSync(join(folder, "long.png"), long)
})

afterAll(async () => {
  await stop(sandbox?.child)
  rmSync(folder, { recursive: true })
})

const settings = (): Sync.Settings => ({
  ...fromEnvironment(sandbox.ready.environment),
  journal: join(folder, "journal")
})

/** The bytes that a post shows. */
const shown = async (id: string): Promise<ReadonlyArray<Buffer>> => {
  await using client = createClient(fromEnvironment(sandbox.ready.environment))
  const response = await client.getPost({
    id,
    expansions: ["attachments.media_keys"],
    post_fields: ["attachments"],
    media_fields: ["url"]
  })
  const media = response.data === undefined ? [] : response.media(response.data)
  return Promise.all(media.map(async ({ url }) => Buffer.from(await (await fetch(url!)).arrayBuffer())))
}

const inputs: Readonly<Record<string, () => Sync.Input>> = {
  "a file by its path": () => join(folder, "long.png"),
  "a file by its address": () => pathToFileURL(join(folder, "long.png")),
  bytes: () => long,
  "bytes of a larger buffer": () => new Uint8Array([0, ...long, 0]).subarray(1, -1),
  "an ArrayBuffer": () => long.buffer,
  "a Blob": () => new Blob([long])
}

describe("a blocking client", () => {
  it.each(Object.keys(inputs))("publishes %s, and reports progress while it blocks", async (kind) => {
    using client = Sync.createClientSync(settings())
    const steps: Array<string> = []
    const { id, media, text } = client.publish({ text: kind, media: [{ file: inputs[kind]!(), alt: "A colour" }] }, {
      onProgress: (step) => {
        steps.push(step.phase === "upload" ? `${step.sentBytes} of ${step.totalBytes}` : step.phase)
        // It may block the thread as well.
        if (step.phase === "posted") steps.push(client.getMe().data?.username ?? "")
        throw new Error("which ends nothing")
      }
    })
    const [size, segment] = [long.length, 1_048_576]
    assert.deepStrictEqual(steps, [
      `0 of ${size}`,
      `${segment} of ${size}`,
      `${size} of ${size}`,
      "sending",
      "posted",
      "ada"
    ])
    assert.deepInclude(media[0], { type: "image/png", category: "tweet_image", size })
    assert.strictEqual(text, kind)
    const [bytes] = await shown(id)
    assert.isTrue(bytes?.equals(long))
  })

  it("iterates over the progress of an upload, and cancels it with the loop", () => {
    using client = Sync.createClientSync(settings())
    const reported: Array<unknown> = []
    client.upload(picture, { onProgress: (progress) => reported.push(progress) })
    const steps = [...client.upload.events(picture)]
    assert.isAbove(reported.length, 1)
    // No step is lost while the loop does not wait for one.
    assert.deepStrictEqual<unknown>(steps.slice(0, -1), reported)
    assert.strictEqual(steps.at(-1)?.phase, "ready")
    for (const _step of client.upload.events(picture)) break
    assert.strictEqual(client.getMe().data?.username, "ada")
  })

  it("creates an article once, with its pictures, and publishes it", () => {
    using client = Sync.createClientSync(settings())
    const media_items = [{ media_id: "long.png", media_category: "tweet_image" }]
    const article: Sync.Article = {
      title: "On colours",
      content_state: {
        blocks: [{ type: "atomic", text: " ", entity_ranges: [{ key: 0, offset: 0, length: 1 }] }],
        entities: [{ key: "0", value: { type: "image", mutability: "immutable", data: { media_items } } }]
      },
      images: { "long.png": { file: join(folder, "long.png"), alt: "A colour" } },
      cover: picture
    }
    const files = new Set<number>()
    const draft = client.createArticle(article, { key: "colours", onProgress: ({ file }) => files.add(file) })
    assert.deepStrictEqual([draft.resumed, [...files].toSorted()], [false, [1, 2]])
    const published = client.createArticle(article, { key: "colours", publish: true })
    assert.deepInclude(published, { article_id: draft.article_id, resumed: true })
    assert.strictEqual(client.getPost({ id: published.post_id ?? "" }).data?.text, "On colours")
  })

  it("uploads once what it resumes, and publishes a thread once", () => {
    using client = Sync.createClientSync(settings())
    const media = client.upload(join(folder, "long.png"), { resume: "one", alt: "A colour" })
    assert.instanceOf(media.expiresAt, Date)
    assert.strictEqual(client.upload(join(folder, "long.png"), { resume: "one", alt: "A colour" }).id, media.id)
    const posts = [{ text: "one", media: [picture] }, { text: "two" }]
    const first = client.publishThread(posts, { key: "numbers" })
    using other = Sync.createClientSync(settings())
    const second = other.as("raw").publishThread(posts, { key: "numbers" })
    assert.deepStrictEqual([first.resumed, second.resumed], [false, true])
    assert.deepStrictEqual(second.posts.map(({ id }) => id), first.posts.map(({ id }) => id))
  })

  it("throws what the Promise client rejects with, with the line that called", async () => {
    using client = Sync.createClientSync(settings())
    const promises = createClient(settings())
    const calls: ReadonlyArray<(client: Sync.PostwireClientSync | typeof promises) => unknown> = [
      (client) => client.upload(new Uint8Array(9)),
      (client) => client.upload(5 as unknown as string),
      (client) => client.upload(join(folder, "none.png")),
      (client) => client.upload(picture, { alt: "a".repeat(1_001) }),
      (client) => client.upload(picture, { onProgress: "a" } as object),
      (client) => client.upload(picture, { resume: "" }),
      (client) => client.publish({ text: "a".repeat(281), media: [picture] }),
      (client) => client.publish(undefined as unknown as Sync.Post),
      (client) => client.publish({ text: "a", media_ids: ["1"] }),
      (client) => client.publishThread([], { key: "a" }),
      (client) => client.publishThread([{ text: "a" }], undefined as unknown as Sync.ThreadOptions)
    ]
    for (const call of calls) {
      const error = thrown(() => call(client))
      const expected = await Promise.resolve(call(promises)).catch((error: unknown) => error)
      assert(error instanceof Error && expected instanceof Error)
      assert.deepStrictEqual(error.message, expected.message)
      assert.strictEqual(error.constructor, expected.constructor)
      assert.include(error.stack?.split("\n").find((line) => line.startsWith("    at")), "Publishing.test.ts")
    }
    await promises.close()
  })

  it("rejects streams and inputs that cannot be handed to a worker", async () => {
    using client = Sync.createClientSync(settings())
    const stream = { stream: createReadStream(join(folder, "long.png")), size: long.length }
    const blob = await openAsBlob(join(folder, "long.png"))
    const refused = [
      [() => client.upload(stream as unknown as string), /cannot be read/],
      [() => client.publish({ text: "a", media: [blob] }), /handed to a worker/],
      [() => client.upload(new URL("http://service.test/a.png")), /path or a file: URL/],
      [
        () => client.upload(new URL("file:///100%.png")),
        /must be the address of a file of this machine .*URI malformed/
      ]
    ] as const
    for (const [call, rule] of refused) {
      const error = thrown(call)
      assert(error instanceof Sync.InvalidParameters)
      assert.strictEqual(error.parameter, "file")
      assert.match(error.rule, rule)
    }
    stream.stream.destroy()
    assert.throws(() => Sync.createClientSync({ ...settings(), journal: {} as string }), Sync.InvalidSettings)
  })

  it("is ended by Ctrl-C, which a thread outlives by its journal", async () => {
    const faults = async (method: string, body?: object) =>
      void await fetch(`${sandbox.ready.baseUrl}/_sandbox/faults`, {
        method,
        headers: { authorization: `Bearer ${sandbox.ready.adminToken}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
    // The second part has no answer before the signal is noticed.
    await faults("POST", { operation: "createPost", nth: 2, delay: "1 hour" })
    const program = `
      import { createClientSync } from ${JSON.stringify(new URL("../src/index.ts", import.meta.url).href)}
      process.on("SIGINT", () => {})
      const client = createClientSync(JSON.parse(process.env.SETTINGS))
      const long = new Uint8Array(${JSON.stringify([...picture])})
      try {
        client.publishThread([{ text: "before" }, { text: "after", media: [long] }], {
          key: "interrupted",
          onProgress: ({ part, phase }) => {
            if (part === 1 && phase === "posted") process.kill(process.pid, "SIGINT")
          }
        })
      } catch (error) {
        console.log(error._tag, error.reason)
      }
    `
    const child = spawn(process.execPath, [
      "--disable-warning=ExperimentalWarning",
      "--input-type=module",
      "-e",
      program
    ], {
      env: { ...process.env, SETTINGS: JSON.stringify(settings()) },
      stdio: ["ignore", "pipe", "inherit"]
    })
    const [line] = await once(createInterface(child.stdout), "line")
    assert.match(String(line), /^TransportFailure interrupted by SIGINT$/)
    await faults("DELETE")
    using client = Sync.createClientSync(settings())
    const posts = [{ text: "before" }, { text: "after", media: [picture] }]
    // The second part was sent, and is looked for.
    const thread = client.publishThread(posts, { key: "interrupted", lag: 200 })
    assert.deepStrictEqual([thread.resumed, thread.posts.map(({ text }) => text)], [true, ["before", "after"]])
  })

  it("changes the members of a list, and reads conversations", async () => {
    await using other = createClient(fromEnvironment(sandbox.ready.environment))
    const { data: list } = await other.createList({ name: "Friends" })
    const { data: me } = await other.getMe()
    const { data: follower } = await other.getUsersFollowers({ id: me?.id ?? "", max_results: 1 })
    const [{ id, username } = { id: "", username: "" }] = follower ?? []
    using client = Sync.createClientSync(settings())
    assert.deepStrictEqual(client.planListMembers(list?.id ?? "", [`@${username}`]).add, [{ id, username }])
    const steps: Array<string> = []
    const synced = client.syncListMembers(list?.id ?? "", [`@${username}`], {
      onProgress: ({ last }) => steps.push(last.became)
    })
    assert.deepInclude(synced, { added: 1, removed: 0, refused: 0 })
    assert.deepStrictEqual(steps, ["added"])
    const error = thrown(() => client.syncListMembers(list?.id ?? "", []))
    assert.instanceOf(error, Sync.InvalidParameters)
    const root = client.publish({ text: "Who replies to this?" })
    client.publish({ text: "Nobody", in_reply_to_post_id: root.id })
    const { nodes } = client.getConversation(root.id)
    assert.strictEqual(nodes[0]?.post?.text, "Who replies to this?")
    const parts = Array.from(
      client.getConversation.parts(root.id),
      (part) => part._tag === "Post" ? part.post.id : undefined
    )
    assert.deepStrictEqual(parts, nodes.map(({ post }) => post?.id))
  })

  it("makes rules the desired ones", async () => {
    const { baseUrl = "", consumerKey, consumerSecret } = settings()
    const asked = await fetch(`${baseUrl}/oauth2/token`, {
      method: "POST",
      headers: { authorization: `Basic ${Buffer.from(`${consumerKey}:${consumerSecret}`).toString("base64")}` },
      body: new URLSearchParams({ grant_type: "client_credentials" })
    })
    const { access_token: bearerToken } = await asked.json() as { readonly access_token: string }
    using client = Sync.createClientSync({ baseUrl, bearerToken })
    assert.deepStrictEqual(client.planRules([{ value: "cat", tag: "cats" }]).add, [{ value: "cat", tag: "cats" }])
    const steps: Array<string> = []
    const { rules } = client.syncRules([{ value: "cat", tag: "cats" }], { onProgress: ({ step }) => steps.push(step) })
    assert.deepStrictEqual([rules.map(({ value }) => value), steps], [["cat"], ["added"]])
    const error = thrown(() => client.syncRules([{ value: "cat form:ada" }]))
    assert.instanceOf(error, Sync.InvalidRules)
    assert.deepStrictEqual(error.rules.map(({ position }) => position), [4])
  })

  it("plans and keeps a webhook", () => {
    using client = Sync.createClientSync(settings())
    const { id } = client.getMe().data ?? assert.fail("nobody")
    const subscriptions = [{ event_type: "post.create", filter: { user_id: id } }] as const
    const url = "https://example.com/hook"
    assert.deepStrictEqual(client.planWebhook({ url, subscriptions }).add, subscriptions)
    const error = thrown(() => client.keepWebhook({ url, subscriptions }))
    assert.instanceOf(error, Sync.WebhookRefused)
    assert.strictEqual(error.reason, "UrlValidationFailed")
  })
})
