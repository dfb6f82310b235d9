#!/usr/bin/env node
import { isBuiltin } from "node:module"
import packageJson from "../package.json" with { type: "json" }

// Node's SQLite is announced as experimental on standard error; everything else that Node warns of is shown.
const emitWarning = process.emitWarning
process.emitWarning = (warning: string | Error, ...rest: Array<unknown>) => {
  if (!String(warning).includes("SQLite is an experimental feature")) {
    Reflect.apply(emitWarning, process, [warning, ...rest])
  }
}

// What follows cannot even be loaded without SQLite, which older ones do not have.
if (isBuiltin("node:sqlite")) {
  // Imported after what is above has taken effect.
  const { run } = await import("./Cli.ts")
  run()
} else {
  const needed = packageJson.engines.node.replace(">=", "")
  console.error(
    `postwire: Node ${needed} or newer is needed, and this is ${process.versions.node}: install a newer one`
  )
  process.exitCode = 1
}
