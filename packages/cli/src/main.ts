#!/usr/bin/env node
// An unsupported Node may lack a named import.
import * as Module from "node:module"

// From the second time on, loading takes three quarters of the time.
Module.enableCompileCache?.()

// Suppresses the warnings that Node's SQLite is experimental and that FORCE_COLOR comes before NO_COLOR, which it does not here.
const emitWarning = process.emitWarning
process.emitWarning = (warning: string | Error, ...rest: Array<unknown>) => {
  if (!/SQLite is an experimental feature|'NO_COLOR' env is ignored/.test(String(warning))) {
    Reflect.apply(emitWarning, process, [warning, ...rest])
  }
}

// The modules below cannot be loaded by an unsupported Node, and do not work without SQLite.
const refusal = await import("@postwire/core/runtime/SupportedNode").then(
  () =>
    Module.isBuiltin("node:sqlite")
      ? undefined
      : `postwire: Node ${process.versions.node} here has no SQLite: install an official build`,
  (error: Error) => error.message
)
if (refusal === undefined) {
  // Imported after the code above has run.
  const { run } = await import("./Cli.ts")
  await run()
} else {
  console.error(refusal)
  process.exitCode = 1
}
