// Saves, restores and resets the whole service.
import { onClick } from "./Actions.mjs"
import { ask, call } from "./AdminCalls.mjs"
import { input, make } from "./Elements.mjs"
import { look } from "./Live.mjs"
import { loadCredentials } from "./Operations.mjs"

/** The time for the browser to start a download, in milliseconds. */
const downloadMillis = 60_000

const lost = "The current state is lost, including faults and rate-limit windows."
const unchanged = "Nothing was changed."

const showAgain = async () => {
  await loadCredentials()
  await look()
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
  if (!confirm(`Replace the state of the service by ${file.name}? ${lost} The journal is kept.`)) return unchanged
  await call("PUT", "/snapshot?journal=keep", file)
  await showAgain()
  return `${file.name} is restored.`
}

const reset = async () => {
  if (!confirm(`Reset everything to the initial state? ${lost} The journal is lost too.`)) return unchanged
  await call("POST", "/reset")
  await showAgain()
  return "Everything is reset."
}

export const start = () => {
  onClick("snapshot", download)
  onClick("restore", restore)
  onClick("reset", reset)
}
