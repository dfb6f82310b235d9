#!/usr/bin/env node
// Node's SQLite is announced as experimental on standard error; everything else that Node warns of is shown.
const emitWarning = process.emitWarning
process.emitWarning = (warning: string | Error, ...rest: Array<unknown>) => {
  if (!String(warning).includes("SQLite is an experimental feature")) {
    Reflect.apply(emitWarning, process, [warning, ...rest])
  }
}

// Imported after the line above has taken effect.
const { run } = await import("./Cli.ts")
run()
