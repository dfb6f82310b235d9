import { assert, describe, it } from "@effect/vitest"
import type { Client } from "@postwire/core/client/Client"
import * as StreamItem from "@postwire/core/schema/StreamItem"
import { streamPosts } from "@postwire/core/streams/operations/Streams"
import type { StreamEvent } from "@postwire/core/streams/StreamEvents"
import { Effect, Stream } from "effect"
import { execFileSync } from "node:child_process"
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import * as Export from "../src/Export.ts"
import * as sealed from "../src/files/Sealed.ts"
import type * as Manifest from "../src/folders/Manifest.ts"
import type { Mode } from "../src/folders/Sink.ts"
import * as Follow from "../src/Follow.ts"
import * as Rows from "../src/rows/Rows.ts"
import * as JsonLines from "../src/sinks/JsonLines.ts"
import * as Hydration from "../src/sources/Hydration.ts"
import { client, everything, failing, folder, now, sandbox, source } from "./support/Scene.ts"

const isRoot = process.getuid?.() === 0

/** A folder with files of the user, and a folder for exports beside them. */
const scene = Effect.map(folder, (root) => {
  const own = join(root, "own")
  const shared = join(root, "shared")
  mkdirSync(join(own, "photos"), { recursive: true })
  mkdirSync(shared)
  writeFileSync(join(own, "key"), "secret", { mode: 0o600 })
  writeFileSync(join(own, "photos", "1.jpg"), "precious")
  return { own, shared }
})

interface State {
  readonly last: { readonly written: object }
  readonly standing: object
}

/** What a file holds without its seal. */
const opened = (path: string) => {
  const { sha256: _, ...value } = JSON.parse(readFileSync(path, "utf8"))
  return value
}

/** Changes the state of a stream, and seals it again. */
const edit = (path: string, change: (state: State) => object): void =>
  writeFileSync(path, sealed.stringify(change(opened(path))))

const delivered = (number: number): StreamEvent<StreamItem.AnyItem> => ({
  _tag: "Delivered",
  at: new Date(now + number),
  item: StreamItem.make(true, { data: { id: String(number), text: "x", edit_history_post_ids: [String(number)] } })
})

const follow = (path: string, options: Partial<Follow.Options> = {}) =>
  Follow.run({
    ...streamPosts,
    parameters: {},
    events: () => Stream.concat(Stream.fromIterable([delivered(1), delivered(2)]), Stream.never)
  }, { sink: JsonLines.make(path), limit: 2, rotate: { every: "1 hour" }, ...options })

/** An export that ends after two pages. */
const unfinished = failing(2)

/** Names that lead elsewhere. */
const names = ["../../../own/key", "../../../own/photos", "../own/key", "..", ".", ""]

describe("names in a folder that somebody else prepared", () => {
  it.effect("lead a stream to no other file, folder or name", () =>
    Effect.gen(function*() {
      const { own, shared } = yield* scene
      const path = join(shared, "p.jsonl")
      const work = `${path}.postwire`
      yield* follow(path)
      // As a crash leaves it between the completion of a file and its move.
      cpSync(join(shared, "p-20261120T120000Z.jsonl"), join(shared, "made"))
      const before = everything(own)
      for (const field of ["folder", "file", "name"]) {
        for (const name of [...names, join(own, "key"), join(own, "photos"), ".bashrc", "made"]) {
          mkdirSync(join(work, "file-0"), { recursive: true })
          cpSync(join(shared, "made"), join(work, "file-0", "items.jsonl"))
          const state = readFileSync(join(work, "stream.json"))
          edit(join(work, "stream.json"), ({ last, ...rest }) => ({
            ...rest,
            last: field === "name"
              ? { ...last, folder: "file-0", file: "items.jsonl", written: { ...last.written, name } }
              : { ...last, folder: "file-0", file: "items.jsonl", [field]: name }
          }))
          yield* Effect.exit(follow(path))
          assert.deepStrictEqual(everything(own), before, `${field} ${name}`)
          for (const odd of [".bashrc", join("..", "key")]) assert.isFalse(existsSync(join(shared, odd)), odd)
          assert.isTrue(existsSync(join(shared, "made")))
          writeFileSync(join(work, "stream.json"), state)
        }
      }
    }))

  it.live("lead an export to no other file or folder", () =>
    Effect.gen(function*() {
      const { own, shared } = yield* scene
      const path = join(shared, "a.jsonl")
      const finished = join(shared, "b.jsonl")
      yield* Export.run(source, { sink: JsonLines.make(finished) })
      yield* Effect.flip(Export.run(unfinished, { sink: JsonLines.make(path) }))
      const manifest: Manifest.Manifest = opened(`${finished}.postwire/manifest.json`)
      const before = everything(own)
      const kept = join(own, "..", "kept")
      cpSync(`${path}.postwire`, kept, { recursive: true })
      for (const name of [...names, join(own, "key"), join(own, "photos")]) {
        for (
          const result of [
            { items: name, manifest },
            { items: "items.jsonl", manifest: { ...manifest, files: [{ ...manifest.files[0], holds: "users", name }] } }
          ]
        ) {
          writeFileSync(`${path}.postwire/work/result.json`, sealed.stringify(result))
          const error = yield* Effect.flip(Export.run(source, { sink: JsonLines.make(path), mode: "resume" }))
          assert.strictEqual(error._tag, "CheckpointUnusable", error.message)
          if (result.items === "items.jsonl") {
            // The files of an earlier export are removed when the next one takes its place.
            rmSync(`${path}.postwire/work`, { recursive: true, force: true })
            writeFileSync(`${path}.postwire/manifest.json`, sealed.stringify(result.manifest))
            yield* Export.run(source, { sink: JsonLines.make(path), mode: "force", limit: 5 })
            rmSync(path)
          }
          assert.deepStrictEqual(everything(own), before, name)
          assert.isTrue(existsSync(finished))
          rmSync(`${path}.postwire`, { recursive: true })
          cpSync(kept, `${path}.postwire`, { recursive: true })
        }
      }
    }).pipe(Effect.provide(client), Effect.provide(sandbox(60))))

  it.effect("with sums below zero are refused, as they would raise a limit of spending", () =>
    Effect.gen(function*() {
      const { shared } = yield* scene
      const path = join(shared, "p.jsonl")
      yield* follow(path)
      edit(
        `${path}.postwire/stream.json`,
        (state) => ({ ...state, standing: { ...state.standing, spent: -5_000_000 } })
      )
      assert.strictEqual((yield* Effect.flip(follow(path)))._tag, "CheckpointUnusable")
    }))
})

describe("links in a folder that somebody else prepared", () => {
  type Run = (path: string) => Effect.Effect<unknown, { readonly _tag: string; readonly message: string }, Client>
  const exported = (mode: Mode): Run => (path) => Export.run(source, { sink: JsonLines.make(path), mode })
  const hydrated: Run = (path) =>
    Effect.scoped(Effect.flatMap(
      Rows.open(`${path}.ids`, { kind: Rows.posts }),
      (rows) => Export.run(Hydration.source(rows, "posts"), { sink: JsonLines.make(path), mode: "resume" })
    ))

  it.live("are not followed, whichever way the folder is used", () =>
    Effect.gen(function*() {
      const { own, shared } = yield* scene
      const path = join(shared, "a.jsonl")
      const place = `${path}.postwire`
      const copy = join(own, "copy")
      writeFileSync(`${path}.ids`, "1\n")
      yield* Effect.flip(Export.run(unfinished, { sink: JsonLines.make(path) }))
      const kept = join(shared, "kept")
      renameSync(place, kept)
      const temporary = ["work/checkpoint.json.tmp", "work/result.json.tmp", "manifest.json.tmp"]
      const files = [...Object.keys(everything(kept)), ...temporary, "moved"]
      const cases: ReadonlyArray<readonly [string, Run, ReadonlyArray<string>]> = [
        ["new", exported("new"), ["manifest.json.tmp", "moved"]],
        ["resume", exported("resume"), files],
        ["force", exported("force"), ["about.txt", "lock", ...temporary]],
        ["hydrate", hydrated, ["about.txt", ...temporary]],
        ["stream", follow, ["gaps.jsonl", "files.jsonl", "stream.json.tmp", "file-0"]],
        ["stream --force", (path) => follow(path, { mode: "force" }), ["about.txt", "stream.json.tmp", "file-0"]]
      ]
      for (const [how, run, names] of cases) {
        for (const name of names) {
          cpSync(kept, place, { recursive: true })
          if (how.startsWith("stream") || how === "new") rmSync(join(place, "work"), { recursive: true })
          mkdirSync(join(place, name, ".."), { recursive: true })
          // What a link leads to holds what would be there without it.
          if (existsSync(join(place, name))) renameSync(join(place, name), copy)
          else cpSync(join(own, name === "moved" || name === "file-0" ? "photos" : "key"), copy, { recursive: true })
          symlinkSync(copy, join(place, name))
          const before = everything(own)
          const error = yield* Effect.flip(run(path))
          assert.strictEqual(error._tag, "OutputRefused", `${how} ${name}: ${error.message}`)
          assert.deepStrictEqual(everything(own), before, `${how} ${name}`)
          rmSync(place, { recursive: true })
          rmSync(copy, { recursive: true })
        }
      }
    }).pipe(Effect.provide(client), Effect.provide(sandbox(60))))

  it.live("are refused like pipes, which nobody writes into, and a lock that holds a journal's database", () =>
    Effect.gen(function*() {
      const { shared } = yield* scene
      const path = join(shared, "a.jsonl")
      const place = `${path}.postwire`
      for (const name of ["about.txt", "lock", "manifest.json"]) {
        yield* Effect.flip(Export.run(unfinished, { sink: JsonLines.make(path) }))
        rmSync(join(place, name), { force: true })
        execFileSync("mkfifo", [join(place, name)])
        const error = yield* Effect.flip(Export.run(source, { sink: JsonLines.make(path), mode: "resume" }))
        assert.strictEqual(error._tag, "OutputRefused", name)
        rmSync(place, { recursive: true })
      }
      yield* Effect.flip(Export.run(unfinished, { sink: JsonLines.make(path) }))
      writeFileSync(join(place, "lock"), "SQLite format 3\0")
      writeFileSync(join(place, "lock-journal"), "journal")
      const error = yield* Effect.flip(Export.run(source, { sink: JsonLines.make(path), mode: "resume" }))
      assert.strictEqual(error._tag, "OutputRefused")
    }).pipe(Effect.provide(client), Effect.provide(sandbox(60))))
})

describe.runIf(isRoot)("a folder of another user", () => {
  it.live("is refused, and stays as it is", () =>
    Effect.gen(function*() {
      const { shared } = yield* scene
      const path = join(shared, "a.jsonl")
      yield* Effect.flip(Export.run(unfinished, { sink: JsonLines.make(path) }))
      chownSync(`${path}.postwire`, 65_534, 65_534)
      const before = everything(shared)
      for (const mode of ["new", "resume", "force"] as const) {
        const error = yield* Effect.flip(Export.run(source, { sink: JsonLines.make(path), mode }))
        assert.strictEqual(error._tag, "OutputRefused", mode)
        assert.include(error.message, "another user")
      }
      assert.strictEqual((yield* Effect.flip(follow(path)))._tag, "OutputRefused")
      assert.deepStrictEqual(everything(shared), before)
    }).pipe(Effect.provide(client), Effect.provide(sandbox(60))))
})
