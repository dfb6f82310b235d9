/** Readers of files: of media, and of the records that Postwire keeps on a disk. */
import * as Account from "@postwire/core/accounts/Account"
import { StorageFailure } from "@postwire/core/errors/StorageErrors"
import * as MediaFile from "@postwire/core/media/MediaFile"
import * as MediaRules from "@postwire/core/media/MediaRules"
import * as UploadCheckpoint from "@postwire/core/media/UploadCheckpoint"
import * as Stored from "@postwire/core/storage/Texts"
import { type Effect, Exit, Schema } from "effect"
import * as Effects from "effect/Effect"
import assert from "node:assert/strict"
import * as ArticleRecord from "../../../packages/core/src/publishing/internal/articleRecord.ts"
import * as ThreadRecord from "../../../packages/core/src/publishing/internal/threadRecord.ts"
import * as MembersRecord from "../../../packages/core/src/workflows/internal/membersRecord.ts"
import * as MediaBytes from "../../../packages/core/test/support/MediaBytes.ts"
import * as Sealed from "../../../packages/export/src/files/Sealed.ts"
import * as Checkpoint from "../../../packages/export/src/folders/Checkpoint.ts"
import * as Manifest from "../../../packages/export/src/folders/Manifest.ts"
import type { Domain } from "./Loop.ts"
import * as Mutations from "./Mutations.ts"

const million = 1_000_000

const files = Object.values(MediaBytes.samples).map((bytes) => Buffer.from(bytes).toString("latin1"))

const parts = [
  ..."moov mdat ftyp trak mdhd free moof IHDR IDAT acTL fcTL IEND RIFF WEBP VP8X VP8L ANIM GIF89a WEBVTT -->".split(
    " "
  ),
  "\0",
  "\0\0\0\0",
  "\0\0\0\x01",
  "\xff\xff\xff\xff",
  "\x80\0\0\0",
  "\xff\xd8",
  "\xff\xc0\0\x11",
  "\x1a\x45\xdf\xa3",
  "!\xf9\x04"
]

export const media: Domain = {
  name: "media files",
  holds:
    "every file has facts and a rule in plain words for each category; no byte outside is read, and few reads are needed",
  cases: million,
  modules: /packages\/core\/src\/media\//,
  seeds: files.map((file) => file.slice(0, 3_000)),
  mutate: Mutations.text(parts, 4_000),
  run: (input) => {
    const bytes = new Uint8Array(Buffer.from(input, "latin1"))
    let reads = 0
    const facts = Effects.runSync(MediaFile.inspect({
      size: bytes.length,
      read: (offset, length) =>
        Effects.sync(() => {
          assert.ok(offset >= 0 && length >= 0 && offset + length <= bytes.length, `${offset} and ${length}`)
          reads++
          return bytes.subarray(offset, offset + length)
        })
    }))
    assert.ok(reads <= 40, `${reads} reads`)
    for (const category of ["tweet_image", "tweet_gif", "tweet_video", "dm_image", "subtitles"] as const) {
      const { rule = "", value = "" } = MediaRules.faultOf(facts, category) ?? {}
      assert.match(`${rule} ${value}`, /^[ -~]+$/)
    }
  }
}

const secret = "canary-access-token-0004"

const refusal = { reason: "not found", detail: "gone" }

const samples = {
  article: { version: 1, contents: "c", authorId: "1", credential: "d", state: { _tag: "drafting", at: 1 } },
  thread: {
    version: 1,
    contents: "c",
    authorId: "1",
    credential: "d",
    after: "2",
    isAbandoned: false,
    parts: [
      { _tag: "posted", id: "1", text: "a", media: [] },
      { _tag: "sent", firstAt: 1, lastAt: 2, media: [], isUndecided: true },
      { _tag: "waiting" }
    ]
  },
  plan: {
    version: 1,
    digest: "d",
    madeAt: 1,
    members: 2,
    remove: [{ id: "1", username: "ada" }],
    add: [{ id: "2" }],
    present: [],
    kept: [],
    unknown: [{ user: { username: "x" }, refusal }]
  },
  account: {
    version: 1,
    baseUrl: "https://api.x.com",
    user: { id: "1", username: "ada" },
    app: { clientId: "a", clientSecret: secret },
    oauth2: { accessToken: secret, refreshToken: secret, scopes: ["tweet.read", "other"], expiresAt: 1, renewedAt: 0 },
    oauth1: { consumerKey: secret, consumerSecret: secret, accessToken: secret, accessTokenSecret: secret }
  },
  upload: {
    version: 1,
    asked: "a",
    content: "c",
    mediaId: "1",
    chunk: 512,
    sent: 1_024,
    hash: "h",
    isEnded: false,
    subtitles: []
  },
  checkpoint: {
    version: 2,
    fingerprint: { query: "cat" },
    progress: { ...Checkpoint.start("2026-01-31T12:00:00Z"), cursor: "c", outcomes: { found: 1 } },
    files: { items: { bytes: 1, sha256: "h" } }
  },
  manifest: {
    version: 2,
    status: "done",
    fingerprint: {},
    progress: Checkpoint.start("2026-01-31T12:00:00Z"),
    endedAt: "2026-01-31T12:00:00Z",
    software: "postwire 1",
    files: [{ name: "a.jsonl", holds: "posts", rows: 1, bytes: 2, sha256: "h" }]
  }
}

type Kind = keyof typeof samples

const isKind = (name: string): name is Kind => Object.hasOwn(samples, name)

/** Reads a record, and where it was read, what is read of it once it is written. */
const again = <A>(
  held: string,
  name: string,
  read: (journal: Stored.ListedTexts) => Effect.Effect<A, StorageFailure>,
  write: (journal: Stored.ListedTexts, value: NonNullable<A>) => Effect.Effect<void, StorageFailure>
): void => {
  const journal = Stored.makeMemory({ [name]: held })
  const exit = Effects.runSyncExit(Effects.gen(function*() {
    const first = yield* read(journal)
    if (first === undefined || first === null) return
    yield* write(journal, first)
    assert.deepEqual(yield* read(journal), first)
  }))
  if (Exit.isSuccess(exit)) return
  const reason = exit.cause.reasons[0]
  if (reason?._tag !== "Fail") throw reason?._tag === "Die" ? reason.defect : new Error("interrupted")
  assert.ok(reason.error instanceof StorageFailure)
  assert.ok(!`${reason.error.message}${JSON.stringify(reason.error)}`.includes("canary"), "a secret is in the message")
}

const decodeCheckpoint = Schema.decodeUnknownOption(Checkpoint.Checkpoint)
const decodeManifest = Schema.decodeUnknownOption(Manifest.Manifest)

const readers: { readonly [K in Kind]: (text: string) => void } = {
  article: (text) =>
    again(
      text,
      ArticleRecord.nameOf("k"),
      (journal) => ArticleRecord.records.read(journal, ArticleRecord.nameOf("k")),
      (journal, record) => ArticleRecord.records.write(journal, ArticleRecord.nameOf("k"), record)
    ),
  thread: (text) =>
    again(
      text,
      ThreadRecord.nameOf("k"),
      (journal) => ThreadRecord.read(journal, "k"),
      (journal, record) => ThreadRecord.write(journal, "k", record)
    ),
  plan: (text) =>
    again(
      text,
      MembersRecord.nameOf("k"),
      (journal) => MembersRecord.readPlan(journal, "k"),
      (journal, record) => MembersRecord.writePlan(journal, "k", record)
    ),
  account: (text) =>
    again(
      text,
      "k",
      (journal) => Effects.map(Account.read(journal, "k"), (found) => found._tag === "Some" ? found.value : undefined),
      (journal, account) => Account.write(journal, "k", account)
    ),
  upload: (text) =>
    again(
      text,
      "k",
      (journal) => UploadCheckpoint.withLog(journal, "k", ({ saved }) => Effects.succeed(saved)),
      (journal, checkpoint) => UploadCheckpoint.withLog(journal, "k", ({ keep }) => keep(checkpoint, "urgent"))
    ),
  checkpoint: (text) => sealed(text, decodeCheckpoint),
  manifest: (text) => sealed(text, decodeManifest)
}

const sealed = (text: string, decode: (value: unknown) => unknown): void => {
  decode(Sealed.parse(text))
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return
  }
  if (typeof value !== "object" || value === null) return
  const { sha256: _, ...rest } = { sha256: "", ...value }
  const read = Sealed.parse(Sealed.stringify(rest))
  assert.equal(JSON.stringify(read), JSON.stringify(JSON.parse(JSON.stringify(rest))))
  decode(read)
}

const seeds = Object.entries(samples).map(([kind, sample]) => `${kind}\n${JSON.stringify(sample)}`)

export const records: Domain = {
  name: "records on a disk",
  holds: "each is read or refused with its place; what is read and written again is the same; no message has a secret",
  cases: million,
  modules: /packages\/(core\/src\/(accounts|storage|publishing|workflows|media)|export\/src\/(files|folders))\//,
  seeds,
  mutate: Mutations.json(
    [...Mutations.values, 1, 2, { _tag: "waiting" }, { _tag: "published", article_id: "1", post_id: "2" }, secret],
    "version contents state parts _tag at oauth1 oauth2 progress files sha256 x __proto__ toJSON 1".split(" ")
  ),
  run: (input) => {
    const at = input.indexOf("\n")
    const kind = input.slice(0, at)
    if (isKind(kind)) readers[kind](input.slice(at + 1))
  }
}
