import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { folder } from "./support/Scene.ts"

const endless = new URL("support/Endless.ts", import.meta.url).pathname

// A third of the pages shows a third of the growth; all of them in `test:long`.
const pages = process.env["POSTWIRE_LONG"] === "1" ? 600 : 200

it.live.each(["jsonl", "sqlite"] as const)(
  "an export into %s takes no more memory for more pages",
  (sink) =>
    Effect.gen(function*() {
      const path = join(yield* folder, `out.${sink}`)
      const flags = ["--expose-gc", "--disable-warning=ExperimentalWarning"]
      const { stdout } = yield* Effect.promise(() =>
        promisify(execFile)(process.execPath, [...flags, endless, sink, path, String(pages)])
      )
      const [early, late] = JSON.parse(stdout) as [number, number]
      // 90 posts and as many users a page were written in between, some 36 kB of text.
      assert.isBelow(late - early, pages / 75, `${early} MB, then ${late} MB`)
    }),
  60_000
)
