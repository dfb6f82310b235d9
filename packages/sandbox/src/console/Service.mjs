// The service as a whole: saved, restored, reset.
import { onClick } from "./Actions.mjs"
import { ask, call } from "./AdminCalls.mjs"
import { input, make } from "./Elements.mjs"
import { look } from "./Live.mjs"
import { loadCredentials } from "./Operations.mjs"
import * as State from "./State.mjs"

/** How long the browser has to begin with a download. */
const downloadMillis = 60_000

const lost = "What is there now is lost, with faults and rate limit windows."
const unchanged = "Nothing is changed."

const showAgain = async () => {
  await loadCredentials()
  await Promise.all([State.restart(), look()])
}

const download = async () => {
  const url = URL.createObjectURL(await (await ask("GET", "/snapshot")).blob())
  make("a", { href: url, download: "sandbox.sqlite" }).click()
  setTimeout(() => URL.revokeObjectURL(url), downloadMillis)
  return "The snapshot is downloaded."
}

const restore = async () => {
  const [file] = input("restore-file").files ?? []
  if (file === undefined) {
    input("restore-file").focus()
    return "Choose a snapshot file first."
  }
  if (!confirm(`Replace what is in the service by ${file.name}? ${lost} The journal stays.`)) return unchanged
  await call("PUT", "/snapshot?journal=keep", file)
  await showAgain()
  return `${file.name} is restored.`
}

const reset = async () => {
  if (!confirm(`Reset everything to what was there at the start? ${lost} The journal is lost, too.`)) return unchanged
  await call("POST", "/reset")
  await showAgain()
  return "Everything is as it was at the start."
}

export const start = () => {
  onClick("snapshot", download)
  onClick("restore", restore)
  onClick("reset", reset)
}
