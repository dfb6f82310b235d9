// Clients that upload and publish with Promises, on Undici and on fetch, against the service that keeps what they send.
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Upload from "@postwire/core/media/Upload"
import * as Journal from "@postwire/core/storage/Journal"
import * as Node from "@postwire/node"
import * as Effectful from "@postwire/node/EffectClient"
import * as NodeClient from "@postwire/node/NodeClient"
import { Sandbox } from "@postwire/sandbox"
import * as Web from "@postwire/web"
import { ConfigProvider, Effect } from "effect"
import { createReadStream, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { pathToFileURL } from "node:url"
import { afterAll, beforeEach } from "vitest"
import { concat, gif, mp4, png } from "../../packages/core/test/support/MediaBytes.ts"

let sandbox: Sandbox.RunningSandbox
let folder: string

const picture = png()
/** Longer than a segment may be, so that there are two. */
const long = concat(picture, new Uint8Array(1_500_000))

beforeAll(async () => {
  sandbox = await Sandbox.start({ posts: 20 })
  folder = mkdtempSync(join(tmpdir(), "postwire-publishing-"))
  writeFileSync(join(folder, "long.png"), long)
})

beforeEach(() => sandbox.reset())

afterAll(async () => {
  await sandbox.stop()
  rmSync(folder, { recursive: true })
})

/** What was sent, in order. */
const sent = () => sandbox.requests.map(({ operation }) => operation)

const count = (operation: string) => sent().filter((each) => each === operation).length

/** The bytes that the service has. */
const kept = (id: string): Uint8Array => {
  const { read, size } = sandbox.store.uploads.content(id)
  return Buffer.concat([...read(0, size)])
}

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(() => assert.fail("it did not fail"), (error: unknown) => error)

/** A journal of a program's own. */
const makeJournal = () => {
  const texts = new Map<string, string>()
  const turns = new Map<string, Promise<unknown>>()
  const journal: Node.Journal = {
    read: async (key) => texts.get(key),
    write: async (key, text) => void (text === undefined ? texts.delete(key) : texts.set(key, text)),
    lock: async (key) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const before = turns.get(key)
      turns.set(key, promise)
      await before
      return resolve
    }
  }
  return { journal, texts }
}

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await sleep(5)
}

/** In pieces of odd sizes, of which none tells where it ends. */
async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 70_001) yield bytes.subarray(at, at + 70_001)
}

const size = long.length

const inputs: Readonly<Record<string, () => Web.Input>> = {
  bytes: () => long,
  "bytes of a larger buffer": () => new Uint8Array([0, ...long, 0]).subarray(1, -1),
  "an ArrayBuffer": () => long.buffer,
  "a Blob": () => new Blob([long]),
  "a File": () => new File([long], "a.png"),
  "a web stream": () => ({ stream: new Blob([long]).stream(), size }),
  "what comes piece by piece": () => ({ stream: inPieces(long), size })
}

const files: Readonly<Record<string, () => Node.Input>> = {
  "a file by its path": () => join(folder, "long.png"),
  "a file by its address": () => pathToFileURL(join(folder, "long.png")),
  "a stream of Node": () => ({ stream: createReadStream(join(folder, "long.png")), size })
}

describe.each(Object.entries({ node: Node, web: Web }))(
  "a client of Promises: %s",
  (_, { createClient, ...errors }) => {
    const connect = (settings: Pick<Web.Settings, "journal" | "retries"> = {}) =>
      createClient({ ...sandbox.settings, journal: makeJournal().journal, ...settings })

    it.each(Object.keys(inputs))("uploads %s", async (kind) => {
      await using client = connect()
      const media = await client.upload(inputs[kind]!())
      assert.deepInclude(media, { type: "image/png", category: "tweet_image", size })
      assert.isAbove(media.expiresAt?.getTime() ?? 0, Date.now())
      assert.isTrue(Buffer.from(long).equals(kept(media.id)))
      // A segment whose connection is lost is retried; an upload is begun and completed once.
      assert.deepStrictEqual(sent().filter((name) => name !== "appendMediaUpload"), [
        "initializeMediaUpload",
        "finalizeMediaUpload"
      ])
      assert.oneOf(count("appendMediaUpload"), [2, 3])
    })

    it("tells how an upload goes on, and what it is for", async () => {
      await using client = connect()
      const steps: Array<Node.UploadProgress> = []
      const media = await client.upload(gif({ frames: 2 }), {
        purpose: "directMessage",
        onProgress: (step) => {
          steps.push(step)
          throw new Error("which ends nothing")
        }
      })
      assert.strictEqual(media.category, "dm_gif")
      assert.deepStrictEqual([...new Set(steps.map(({ phase }) => phase))], ["upload", "processing"])
      assert.deepStrictEqual(steps.at(-1), {
        phase: "processing",
        sentBytes: media.size,
        totalBytes: media.size,
        fraction: 1
      })
    })

    it("has the steps of an upload to go through, and ends it with the loop", async () => {
      await using client = connect()
      const phases: Array<string> = []
      let last: Node.UploadProgress | Node.Uploaded | undefined
      for await (last of client.upload.events(long)) phases.push(last.phase)
      assert(last?.phase === "ready")
      assert.isTrue(Buffer.from(long).equals(kept(last.media.id)))
      assert.deepStrictEqual([...new Set(phases)], ["upload", "ready"])
      sandbox.reset()
      for await (const step of client.upload.events(long)) {
        if (step.phase === "upload") break
      }
      await client.getMe()
      assert.notInclude(sent(), "finalizeMediaUpload")
    })

    it("publishes a post with its files, described", async () => {
      await using client = connect()
      const phases: Array<string> = []
      const { id, media, text } = await client.publish(
        { text: "Look", media: [{ file: picture, alt: "Nothing but a colour" }, picture] },
        { onProgress: ({ phase }) => phases.push(phase) }
      )
      assert.deepStrictEqual([text, media.length, phases.at(-1)], ["Look", 2, "posted"])
      const response = await client.getPost({
        id,
        expansions: ["attachments.media_keys"],
        post_fields: ["attachments"],
        media_fields: ["alt_text"]
      })
      const shown = response.data === undefined ? [] : response.media(response.data)
      assert.deepStrictEqual(shown.map(({ alt_text }) => alt_text), ["Nothing but a colour", undefined])
    })

    it("publishes nothing when a file is wrong, or cannot be uploaded", async () => {
      await using client = connect({ retries: 0 })
      const wrong = await failureOf(client.publish({ text: "a", media: [picture, new Uint8Array(9)] }))
      assert(wrong instanceof errors.InvalidParameters)
      assert.deepInclude(wrong, { operation: "publish", parameter: "media[1].file" })
      const long = await failureOf(client.publish({ text: "a".repeat(281), media: [picture] }))
      assert(long instanceof errors.InvalidParameters)
      assert.strictEqual(long.parameter, "text")
      assert.isEmpty(sent())
      sandbox.faults.add({ operation: "finalizeMediaUpload", status: 403 })
      assert.instanceOf(await failureOf(client.publish({ text: "a", media: [picture] })), errors.Forbidden)
      assert.notInclude(sent(), "createPost")
    })

    it("refuses what is no file, post, option or signal, with the line that called", async () => {
      await using client = connect()
      const steps = (options: object) => client.upload.events(picture, options)[Symbol.asyncIterator]().next()
      const failures: ReadonlyArray<readonly [() => Promise<unknown>, string]> = [
        [() => client.upload({} as Uint8Array), "file"],
        [() => client.upload(picture, { size: 1 } as object), "size"],
        [() => client.upload(picture, { resume: "" }), "resume"],
        [() => client.upload(picture, { resume: "\ud800" }), "resume"],
        [() => client.upload(picture, { signal: "stop" } as object), "signal"],
        [() => client.upload(picture, { subtitles: "none" } as object), "subtitles"],
        [() => steps({ signal: "stop" }), "signal"],
        [() => client.publish(undefined as unknown as Web.Post), "post"],
        [() => client.publish({ text: "a", media: picture as unknown as [] }), "media"],
        [() => client.publishThread([{ text: "a" }], undefined as unknown as Node.ThreadOptions), "key"],
        [() => client.publishThread("a" as unknown as [], { key: "a" }), "posts"]
      ]
      for (const [call, parameter] of failures) {
        let error: unknown
        try {
          await call()
        } catch (thrown) {
          error = thrown
        }
        assert(error instanceof errors.InvalidParameters, `${parameter}: ${error}`)
        assert.strictEqual(error.parameter, parameter)
        assert.include(error.stack, "Publishing.test.ts")
      }
      assert.isEmpty(sent())
    })

    it("refuses what is no journal, and tells what one fails with", async () => {
      for (const journal of [5, {}, { read: () => {}, write: () => {} }]) {
        const error = await failureOf((async () => connect({ journal: journal as unknown as Node.Journal }))())
        assert(error instanceof errors.InvalidSettings)
        assert.strictEqual(error.setting, "journal")
      }
      const { journal } = makeJournal()
      await using client = connect({
        journal: { ...journal, write: async () => Promise.reject(new Error("it is full")) }
      })
      const error = await failureOf(client.publishThread([{ text: "a" }], { key: "one" }))
      assert(error instanceof errors.StorageFailure)
      assert.deepInclude(error, {
        place: "journal (key thread.one)",
        fault: "unavailable",
        action: "write",
        detail: "it is full"
      })
      assert.notInclude(sent(), "createPost")
    })

    it("is the same client in every form", async () => {
      await using client = connect()
      const raw = client.as("raw")
      assert.strictEqual((await raw.publish({ text: "a" })).text, "a")
      assert.strictEqual(raw.upload, client.upload)
    })

    it("ends an upload with its signal, and with the client", async () => {
      sandbox.faults.add({ operation: "appendMediaUpload", delay: "1 minute", times: "always" })
      const client = connect()
      const reason = new Error("enough")
      const stop = new AbortController()
      const stopped = failureOf(client.upload(long, { signal: stop.signal }))
      await until(() => count("initializeMediaUpload") > 0)
      stop.abort(reason)
      assert.strictEqual(await stopped, reason)
      const closed = failureOf(client.publish({ text: "a", media: [long] }))
      const thread = failureOf(client.publishThread([{ text: "a", media: [long] }], { key: "a" }))
      await until(() => count("initializeMediaUpload") > 2)
      await client.close()
      for (const error of [await closed, await thread, await failureOf(client.upload(long))]) {
        assert(error instanceof errors.TransportFailure, String(error))
        assert.strictEqual(error.reason, "the client is closed")
      }
      assert.notInclude(sent(), "createPost")
    })

    it("does not know of a post alone whether it happened, when the client is closed", async () => {
      sandbox.faults.add({ operation: "createPost", delay: "1 minute", times: "always" })
      const client = connect()
      const before = sandbox.store.counts().posts
      const posting = failureOf(client.publish({ text: "a", media: [picture] }))
      // The answer is held back, not the work.
      await until(() => sandbox.store.counts().posts > before)
      await client.close()
      const error = await posting
      assert(error instanceof errors.OutcomeUnknown, String(error))
      assert.deepInclude(error, { operation: "publish", confirmWith: "getUsersPosts", reason: "the client is closed" })
    })

    it("goes on with an upload, and with a thread, by what its journal says", async () => {
      const { journal, texts } = makeJournal()
      sandbox.faults.add({ operation: "appendMediaUpload", nth: 2, status: 403 })
      {
        await using client = connect({ journal })
        assert.instanceOf(await failureOf(client.upload(long, { resume: "big" })), errors.Forbidden)
        assert.deepStrictEqual([...texts.keys()], ["upload.big"])
      }
      await using client = connect({ journal })
      const media = await client.upload(long, { resume: "big" })
      assert.isTrue(Buffer.from(long).equals(kept(media.id)))
      assert.strictEqual(count("initializeMediaUpload"), 1)
      // The first segment is sent again if the failure of the second interrupted it.
      assert.oneOf(count("appendMediaUpload"), [3, 4])
      assert.strictEqual((await client.upload(long, { resume: "big" })).id, media.id)
      assert.strictEqual(count("finalizeMediaUpload"), 1)

      const before = sandbox.store.counts().posts
      sandbox.faults.add({ operation: "createPost", nth: 2, status: 403 })
      const posts = [{ text: "one" }, { text: "two", media: [picture] }, { text: "three" }]
      assert.instanceOf(await failureOf(client.publishThread(posts, { key: "numbers" })), errors.Forbidden)
      const thread = await client.publishThread(posts, { key: "numbers" })
      assert.deepStrictEqual([thread.resumed, thread.posts.map(({ text }) => text)], [true, ["one", "two", "three"]])
      assert.strictEqual(sandbox.store.counts().posts, before + 3)
      const { data } = await client.getPost({ id: thread.posts[2]!.id, post_fields: ["referenced_posts"] })
      assert.deepStrictEqual(data?.referenced_posts, [{ type: "replied_to", id: thread.posts[1]!.id }])
    })
  }
)

describe("the likely mistakes", () => {
  /** Ids are others each time. */
  const anyId = (text: string) => text.replaceAll(/\b\d{19}\b/g, "<id>")

  it("are told in the words of the guide", async () => {
    const guide = anyId(readFileSync(new URL("../../docs/publish.md", import.meta.url), "utf8"))
    await using client = Node.createClient({ ...sandbox.settings, journal: makeJournal().journal })
    const tell = async (call: Promise<unknown>) => {
      const error = await failureOf(call)
      assert(error instanceof Error)
      assert.include(guide, `| \`${anyId(error.message)}\` |`)
    }
    const media = (file: Uint8Array) => client.publish({ text: "a", media: [file] })
    await tell(media(concat(picture, new Uint8Array(6_000_000 - picture.length))))
    await tell(media(new TextEncoder().encode("%PDF-1.7")))
    await tell(media(mp4({ millis: 200_000 })))
    await tell(client.publish({ text: "a", media_ids: ["1880028106020515840"] }))
    await tell(client.publish({ text: "a".repeat(300), media: [picture] }))
    sandbox.faults.add({ operation: "appendMediaUpload", status: 404 })
    await tell(client.upload({ stream: inPieces(picture), size: picture.length }))
  })
})

describe("a client on Node", () => {
  it.each(Object.keys(files))("uploads %s", async (kind) => {
    await using client = Node.createClient({ ...sandbox.settings })
    const media = await client.upload(files[kind]!())
    assert.isTrue(Buffer.from(long).equals(kept(media.id)))
  })

  it("takes paths wherever there is a file", async () => {
    await using client = Node.createClient({ ...sandbox.settings, journal: join(folder, "journal") })
    const video = join(folder, "a.mp4")
    const words = join(folder, "a.vtt")
    writeFileSync(video, mp4())
    writeFileSync(words, "WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n")
    const file = pathToFileURL(video)
    const { posts: [first, second] } = await client.publishThread(
      [
        { text: "a", media: [join(folder, "long.png")] },
        { text: "b", media: [{ file, subtitles: [{ file: words, language: "EN", name: "English" }] }] }
      ],
      { key: "with files" }
    )
    assert.deepStrictEqual([first?.media[0]?.type, second?.media[0]?.type], ["image/png", "video/mp4"])
    assert.include(sent(), "createMediaSubtitles")
  })

  it("says which file is not there, without its folders", async () => {
    await using client = Node.createClient({ ...sandbox.settings })
    const error = await failureOf(client.publish({ text: "a", media: [join(folder, "none.png")] }))
    assert(error instanceof Node.SourceFailure)
    assert.deepInclude(error, { source: "none.png", fault: "absent" })
    assert.notInclude(error.message, folder)
  })

  it("lets go of a stream that it did not read to its end", async () => {
    sandbox.faults.add({ operation: "appendMediaUpload", status: 403 })
    await using client = Node.createClient({ ...sandbox.settings })
    const source = createReadStream(join(folder, "long.png"))
    assert.instanceOf(
      await failureOf(client.upload({ stream: source, size: statSync(source.path).size })),
      Node.Forbidden
    )
    await until(() => source.closed)
  })

  it("keeps its journal in a folder, which another client finds, and shares with programs of Effect", async () => {
    const settings = { ...sandbox.settings, journal: join(folder, "shared") }
    await using client = Node.createClient(settings)
    const { id } = await client.upload(picture, { resume: "one" })
    await using effectful = Effectful.createClient(settings)
    const again = Upload.upload.resumable("one", picture)
    assert.strictEqual((await effectful.effect.runPromise(again)).id, id)
    assert.strictEqual((await Effect.runPromise(Effect.provide(again, effectful.effect.layer))).id, id)
    assert.strictEqual(count("initializeMediaUpload"), 1)
  })

  it("is made where there is no place for a journal, and says so when it is asked for", async () => {
    const reading = Effect.flatMap(Journal.Journal, ({ read }) => Effect.flip(read("one")))
    const error = await Effect.runPromise(Effect.provide(reading, [
      NodeClient.layer({ baseUrl: sandbox.baseUrl, bearerToken: "a" }),
      ConfigProvider.layer(ConfigProvider.fromUnknown({}))
    ]))
    assert.match(error.message, /^The journal journal cannot be read: .*HOME is not set/)
  })
})
