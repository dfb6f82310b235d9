// Preloaded: prints how many modules of files the program has loaded.
import { registerHooks } from "node:module"

let modules = 0
registerHooks({
  load: (url, context, next) => {
    if (url.startsWith("file:")) modules++
    return next(url, context)
  }
})
process.on("exit", () => console.error(`modules ${modules}`))
