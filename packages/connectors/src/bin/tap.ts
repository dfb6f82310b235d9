#!/usr/bin/env node
import "@postwire/core/runtime/SupportedNode"
import { oneLine } from "@postwire/node/TerminalText"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { parseArgs } from "node:util"
import * as Tap from "../singer/Tap.ts"

const text = { type: "string" } as const

const main = Effect.gen(function*() {
  const { values: { catalog, config, discover, properties, state } } = parseArgs({
    options: { config: text, catalog: text, properties: text, state: text, discover: { type: "boolean" } }
  })
  if (discover === true) return yield* Console.log(JSON.stringify(Tap.catalog, undefined, 2))
  if (config === undefined) throw new Error("postwire-tap --config FILE [--discover] [--catalog FILE] [--state FILE]")
  yield* Tap.run({ config, catalog: catalog ?? properties, state })
})

await Effect.runPromise(main).catch((error: Error) => {
  console.error(`CRITICAL ${oneLine(error.message)}`)
  process.exitCode = 1
})
