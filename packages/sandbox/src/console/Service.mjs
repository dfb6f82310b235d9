// The service as a whole: saved, restored, reset.
import { onClick } from "./Actions.mjs"
import { ask, call } from "./AdminCalls.mjs"
import { input, make } from "./Elements.mjs"
import { look } from "./Live.mjs"
import { loadCredentials } from "./Operations.mjs"
import * as State from "./State.mjs"

/** How long the browser has to begin with a download. */
const downloadMillis = 60_000

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
  await call("PUT", "/snapshot", file)
  await showAgain()
  return "The snapshot is restored."
}

const reset = async () => {
  if (!confirm("Begin anew? Everything that was written since the start is lost.")) return ""
  await call("POST", "/reset")
  await showAgain()
  return "The sandbox has begun anew."
}

export const start = () => {
  onClick("snapshot", download)
  onClick("restore", restore)
  onClick("reset", reset)
}
