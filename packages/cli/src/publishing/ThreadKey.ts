/**
 * Which thread a file stands for. A thread goes on by its key, and where nobody gives one it is made of what the file holds: so
 * the journal also notes which one the file began last, for a file that was edited meanwhile would else be posted again.
 */
import { type Entries, Journal } from "@postwire/core/storage/Journal"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { hash } from "node:crypto"
import { basename, extname, resolve } from "node:path"
import { Contradiction, FileUnusable } from "../terminal/ErrorReport.ts"
import { standardInput } from "../terminal/TextFile.ts"

const Text = Schema.fromJsonString(Schema.Struct({
  key: Schema.String,
  /** A hash of what the file held. */
  content: Schema.String,
  /** `stuck`: the user decides what becomes of it. `broken`: the same, but it cannot go on. */
  state: Schema.Literals(["begun", "stuck", "broken", "over"]),
  /** Whether `--again` began it. */
  again: Schema.optionalKey(Schema.Boolean),
  /** How many of its parts are posted; left out while that is not known. */
  posted: Schema.optionalKey(Schema.Int),
  parts: Schema.Int
}))

/** What is noted of the thread of a file. */
type Note = typeof Text.Type

const decode = Schema.decodeOption(Text)
const encode = Schema.encodeSync(Text)

/** What a command line says of a thread. */
export interface Asked {
  readonly file: string
  readonly account: string | undefined
  /** What is to be posted, as JSON. */
  readonly content: string
  readonly parts: number
  readonly key: Option.Option<string>
  readonly again: boolean
  readonly abandon: boolean
}

/** The thread of a file, and a way to note how far it is. */
export interface Chosen {
  readonly key: string
  /** How many of its parts were posted by earlier commands; nothing where that is not known. */
  readonly posted: number | undefined
  readonly note: (state: Note["state"], posted: number | undefined) => Effect.Effect<void>
}

/** Finds the thread that is meant. Refuses a file that has changed since its thread was interrupted. */
export const choose = Effect.fnUntraced(function*(asked: Asked) {
  const journal = yield* Journal
  const content = hash("sha256", `${asked.account ?? ""}\n${asked.content}`)
  // What came through a pipe is known by nothing but its content.
  const place = `cli.${asked.account ?? ""}.${asked.file === standardInput ? content : resolve(asked.file)}`
  const before = Option.getOrUndefined(Option.flatMap(Option.fromUndefinedOr(yield* journal.read(place)), decode))
  const isStuck = before?.state === "stuck" || before?.state === "broken"
  if (asked.abandon && (!isStuck || Option.exists(asked.key, (key) => key !== before.key))) {
    return yield* new Contradiction({
      reason: "No part of the thread waits for a decision",
      advice: "Without --abandon the same command goes on; to leave the thread as it is, do nothing more."
    })
  }
  const isSame = before?.content === content
  // Repeated after an interruption, --again goes on with the thread that it began.
  const isNew = asked.again &&
    !(isSame && before.again === true && (before.state === "begun" || before.state === "stuck"))
  const key = Option.isSome(asked.key)
    ? asked.key.value
    : isNew
    ? `${nameOf(asked.file, content)}-${(yield* Clock.currentTimeMillis).toString(36)}`
    : isSame
    ? before.key
    : nameOf(asked.file, content)
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

/** What the thread itself has noted counts; should this fail, the file is taken for a new one. */
const note = (journal: Entries, place: string, text: Note): Effect.Effect<void> =>
  Effect.ignore(journal.write(place, encode(text)))

const nameOf = (file: string, content: string): string => {
  const name = file === standardInput ? "thread" : basename(file, extname(file)).replace(/[^\p{L}\p{N}_-]+/gu, "-")
  return `${name.slice(0, 64)}-${content.slice(0, 12)}`
}

const changed = (file: string, { parts, posted }: Note) =>
  new FileUnusable({
    path: file,
    reason: `it has changed since its thread was interrupted, of which ${
      posted === undefined ? "parts may be posted" : `${posted} of ${parts} parts are posted`
    }`,
    advice: "Put it back as it was to go on, or pass --again to post all of it as another thread."
  })
