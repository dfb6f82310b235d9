#!/usr/bin/env node
// What is imported by name has to be there, even in a Node that is too old.
import * as Module from "node:module"

// Node's SQLite is announced as experimental on standard error; everything else that Node warns of is shown.
const emitWarning = process.emitWarning
process.emitWarning = (warning: string | Error, ...rest: Array<unknown>) => {
  if (!String(warning).includes("SQLite is an experimental feature")) {
    Reflect.apply(emitWarning, process, [warning, ...rest])
  }
}

// What follows cannot even be loaded on a Node that is too old, and does nothing without SQLite.
const refusal = await import("@postwire/core/runtime/SupportedNode").then(
  () =>
    Module.isBuiltin("node:sqlite")
      ? undefined
      : `postwire: Node ${process.versions.node} here has no SQLite: install an official build`,
  (error: Error) => error.message
)
if (refusal === undefined) {
  // Imported after what is above has taken effect.
  const { run } = await import("./Cli.ts")
  run()
} else {
  console.error(refusal)
  process.exitCode = 1
}
