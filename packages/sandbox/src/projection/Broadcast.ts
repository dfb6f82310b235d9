/** The state, the times and the id of a broadcast, which follow from its plan. */
import type { Plan } from "../store/Documents.ts"

export const [planned, running, ended] = ["NOT_STARTED", "RUNNING", "ENDED"] as const

/** The state of a broadcast. */
export type State = ReturnType<typeof stateOf>

/** The times in milliseconds; without a start, it is not published yet. */
export const timesOf = ({ live_ms, manual_publish, scheduled_end_ms, scheduled_start_ms }: Plan) => {
  const start = manual_publish === true ? live_ms ?? Infinity : scheduled_start_ms
  return { start, end: Math.max(scheduled_end_ms, start) }
}

export const stateOf = (plan: Plan, now: number) => {
  const { end, start } = timesOf(plan)
  return now < start ? planned : now < end ? running : ended
}

const letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/** The id for operations: the id of the record in 13 letters and digits. */
export const idOf = (record: string): string => {
  let text = ""
  for (let left = BigInt(record); left > 0n; left /= 62n) text = `${letters[Number(left % 62n)]}${text}`
  return text.padStart(13, "0")
}

/** The id of the record; 0 if there is none. */
export const recordOf = (broadcast: string): string =>
  /^[0-9A-Za-z]{13}$/.test(broadcast)
    ? String([...broadcast].reduce((sum, letter) => sum * 62n + BigInt(letters.indexOf(letter)), 0n))
    : "0"
