/** How far the run is: one line that is written over at a terminal, a line every few seconds anywhere else. */
import { stderr } from "node:process"

const every = 4_000

let last = -every
let furthest = 0
let shown = ""

/** Shows a step, and the share of the whole run that is done. */
export const show = (step: string, share: number): void => {
  // A step may take less or more than its share.
  furthest = Math.max(furthest, Math.min(share, 1))
  const line = `[${String(Math.floor(furthest * 100)).padStart(3)} %] ${step}`
  if (stderr.isTTY) {
    stderr.write(`\r\x1b[K${line.slice(0, (stderr.columns ?? 80) - 1)}`)
  } else if (line !== shown && performance.now() - last >= every) {
    stderr.write(`${line}\n`)
    last = performance.now()
    shown = line
  }
}

/** Clears the line at a terminal. */
export const clear = (): void => {
  if (stderr.isTTY) stderr.write("\r\x1b[K")
}
