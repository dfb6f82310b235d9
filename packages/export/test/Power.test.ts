import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import * as Export from "../src/Export.ts"
import { client, failing, folder, sandbox } from "./support/Scene.ts"
import { sinks } from "./support/Sinks.ts"

/** The numbers of the files that are synchronized meanwhile. */
const synchronized = Effect.acquireRelease(
  Effect.promise(async () => {
    await using file = await fs.open("/dev/null")
    const prototype: fs.FileHandle = Object.getPrototypeOf(file)
    const { sync } = prototype
    const files = new Set<number>()
    prototype.sync = async function(this: fs.FileHandle) {
      files.add((await this.stat()).ino)
      return sync.call(this)
    }
    return { files, restore: () => void (prototype.sync = sync) }
  }),
  ({ restore }) => Effect.sync(restore)
)

describe("an export that a power failure ends", () => {
  it.effect("can be resumed: the mark of its folder is on the disk", () =>
    Effect.gen(function*() {
      const { files } = yield* synchronized
      const out = join(yield* folder, "posts.csv")
      yield* Effect.exit(Export.run(failing(2), { sink: sinks.csv(out) }))
      const { ino } = yield* Effect.promise(() => fs.stat(`${out}.postwire/about.txt`))
      assert.isTrue(files.has(ino))
    }).pipe(Effect.provide(client), Effect.provide(sandbox())))
})
