#!/usr/bin/env node
import "@postwire/core/runtime/SupportedNode"
import { oneLine } from "@postwire/node/TerminalText"
import * as Effect from "effect/Effect"
import { parseArgs } from "node:util"
import * as Source from "../airbyte/Source.ts"

const text = { type: "string" } as const

const usage = "postwire-source spec | check --config FILE | discover | read --config FILE --catalog FILE [--state FILE]"

const main = Effect.suspend(() => {
  const { positionals: [command], values: { catalog, config, state } } = parseArgs({
    allowPositionals: true,
    options: { config: text, catalog: text, state: text }
  })
  if (command === "spec") return Source.spec
  if (command === "discover") return Source.discover
  if (command === "check" && config !== undefined) return Source.check(config)
  if (command === "read" && config !== undefined && catalog !== undefined) {
    return Source.read({ config, catalog, state })
  }
  throw new Error(usage)
})

await Effect.runPromise(main.pipe(Effect.tapError(Source.fail))).catch(({ message }: Error) => {
  console.error(oneLine(message))
  process.exitCode = 1
})
