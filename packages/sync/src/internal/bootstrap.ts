/**
 * The first code of the worker. A blocked caller receives no events of the worker, so this code loads the module at `url` and
 * writes to the shared memory why the worker ended. It is a string because it must run even if no module can be loaded.
 */
import { ownName, place, placesBytes, reasonBytes, State } from "./protocol.ts"

export const bootstrap = `
  const { memory, url } = process.getBuiltinModule("node:worker_threads").workerData["${ownName}"]
  const places = new Int32Array(memory, 0, ${placesBytes / Int32Array.BYTES_PER_ELEMENT})
  let reason
  const keep = (error) => {
    try {
      reason ??= String(error)
    } catch {}
  }
  process.on("uncaughtExceptionMonitor", keep)
  process.on("exit", (code) => {
    const text = reason ?? "it ended with code " + code
    places[${place.reason}] = Buffer.from(memory, ${placesBytes}, ${reasonBytes}).write(text)
    const isLoading = Atomics.load(places, ${place.state}) === ${State.loading}
    Atomics.store(places, ${place.state}, isLoading ? ${State.unloadable} : ${State.ended})
    Atomics.add(places, ${place.answers}, 1)
    Atomics.notify(places, ${place.answers})
  })
  // From the second process on, a first call takes three quarters of the time. Bun has no such cache.
  process.getBuiltinModule("node:module").enableCompileCache?.()
  import(url).catch((error) => {
    keep(error)
    process.exit(1)
  })
`
