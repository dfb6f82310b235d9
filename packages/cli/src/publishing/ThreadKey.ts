/**
 * Finds the key of a file's thread. The default key is derived from the content, so the journal also records the last thread of
 * each file: otherwise a file that is edited after an interruption would be posted again.
 */
import { type Entries, Journal } from "@postwire/core/storage/Journal"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { hash } from "node:crypto"
import { resolve } from "node:path"
import { refuse } from "../terminal/ErrorReport.ts"
import { standardInput } from "../terminal/TextFile.ts"
import * as FileKey from "./FileKey.ts"

const Text = Schema.fromJsonString(Schema.Struct({
  key: Schema.String,
  content: Schema.String,
  /** `stuck`: the user has to decide how to continue. `broken`: the user has to decide, and it cannot continue. */
  state: Schema.Literals(["begun", "stuck", "broken", "over"]),
  /** True if it was started with `--again`. */
  again: Schema.optionalKey(Schema.Boolean),
  /** The number of posted parts; absent if unknown. */
  posted: Schema.optionalKey(Schema.Int),
  parts: Schema.Int
}))

type Note = typeof Text.Type

const decode = Schema.decodeOption(Text)
const encode = Schema.encodeSync(Text)

export interface Asked {
  readonly file: string
  readonly account: string | undefined
  /** The posts, as JSON. */
  readonly content: string
  readonly parts: number
  readonly key: Option.Option<string>
  readonly again: boolean
  readonly abandon: boolean
}

/** The thread of a file, and a function to record its state. */
export interface Chosen {
  readonly key: string
  /** The parts posted by earlier commands; `undefined` if unknown. */
  readonly posted: number | undefined
  readonly note: (state: Note["state"], posted: number | undefined) => Effect.Effect<void>
}

/** Finds the thread of a file. Refuses a file that was changed since its thread was interrupted. */
export const choose = Effect.fnUntraced(function*(asked: Asked) {
  const journal = yield* Journal
  const content = hash("sha256", `${asked.account ?? ""}\n${asked.content}`)
  // Input from a pipe has no name but its content.
  const place = `cli.${asked.account ?? ""}.${asked.file === standardInput ? content : resolve(asked.file)}`
  const before = Option.getOrUndefined(Option.flatMap(Option.fromUndefinedOr(yield* journal.read(place)), decode))
  const isStuck = before?.state === "stuck" || before?.state === "broken"
  if (asked.abandon && (!isStuck || Option.exists(asked.key, (key) => key !== before.key))) {
    return yield* refuse(
      "The thread does not wait for a decision",
      "Without --abandon the same command continues; to keep the thread as it is, do nothing."
    )
  }
  const isSame = before?.content === content
  // Repeated after an interruption, --again continues the thread that it started.
  const isNew = asked.again &&
    !(isSame && before.again === true && (before.state === "begun" || before.state === "stuck"))
  const key = Option.isSome(asked.key)
    ? asked.key.value
    : isNew
    ? `${FileKey.make(asked.file, "thread", content)}-${(yield* Clock.currentTimeMillis).toString(36)}`
    : isSame
    ? before.key
    : FileKey.make(asked.file, "thread", content)
  const isMeant = Option.isSome(asked.key) || asked.again || isSame
  if (!isMeant && before !== undefined && before.state !== "over" && before.posted !== 0) {
    return yield* changed(asked.file, before)
  }
  const again = isNew || (before?.key === key && before.again === true)
  const noted = { key, content, parts: asked.parts, ...(again ? { again } : {}) }
  const chosen: Chosen = {
    key,
    posted: before?.key === key ? before.posted : Option.isSome(asked.key) ? undefined : 0,
    note: (state, posted) => note(journal, place, { ...noted, state, ...(posted === undefined ? {} : { posted }) })
  }
  return chosen
})

/** Failures are ignored: the thread's own record decides, and without this one the file counts as new. */
const note = (journal: Entries, place: string, text: Note): Effect.Effect<void> =>
  Effect.ignore(journal.write(place, encode(text)))

const changed = (file: string, { parts, posted }: Note) =>
  refuse(
    `${file}: it was changed since its thread was interrupted; ${
      posted === undefined ? "parts may be posted" : `${posted} of ${parts} parts are posted`
    }`,
    "Restore it to continue, or pass --again to post all of it as another thread."
  )
