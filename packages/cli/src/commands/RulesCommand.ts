/** `postwire rules`: makes the rules of the filtered stream those of a file. */
import type { InvalidRules, RefusedRule } from "@postwire/core/errors/Errors"
import { getStreamRules } from "@postwire/core/operations/Rules"
import {
  planRules,
  type Progress,
  type RulesPlan,
  type SyncedRules,
  syncRules,
  type WantedRule
} from "@postwire/core/streams/rules/StreamRules"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Connection from "../connection/Connection.ts"
import * as RuleFile from "../streams/RuleFile.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Prompt from "../terminal/Prompt.ts"
import * as Report from "../terminal/Report.ts"
import { Terminal } from "../terminal/Terminal.ts"
import * as Text from "../terminal/Text.ts"
import * as TextFile from "../terminal/TextFile.ts"
import * as Underline from "../terminal/Underline.ts"
import { lines } from "./Lines.ts"

const common = {
  file: Argument.String("file").pipe(
    Argument.withDescription("The rules, one per line, each with a tag in brackets before it; - is standard input")
  ),
  keep: Args.toggle("keep", "Only add; keep rules that are not in the file"),
  unchecked: Args.toggle("unchecked", "Do not check rules before the service does"),
  json: Report.json,
  wire: Connection.wire,
  ...Connection.flags
}

const plan = Command.make("plan", common, (flags) => {
  const { file, json, keep, unchecked, wire } = flags
  return Effect.gen(function*() {
    const desired = yield* read(file)
    const found = yield* Connection.use(
      flags,
      wire,
      () => planRules(desired, { keep, check: !unchecked }).pipe(Effect.catchTag("InvalidRules", tellIn(file, desired)))
    )
    yield* Report.print(json, found, () => planLines(found))
  })
}).pipe(
  Args.help(
    "Show what rules apply would do: compare the app's rules with those of the file, and have the service validate the new ones. " +
      "Nothing is changed. A mistake is shown with its place.",
    "Show what rules apply would do",
    {
      "postwire rules plan rules.txt": "Show the changes"
    }
  )
)

const applyFlags = {
  ...common,
  allowEmpty: Args.toggle("allow-empty", "Delete all rules if the file has none"),
  overlap: Args.int("overlap", 0).pipe(
    Flag.withDefault(20),
    Flag.withMetavar("SECONDS"),
    Flag.withDescription("The seconds that old rules stay beside new ones, until streams follow (default: 20)")
  ),
  yes: Args.toggle("yes", "Do not ask before rules are deleted")
}

const apply = Command.make("apply", applyFlags, (flags) => {
  const { allowEmpty, file, json, keep, overlap, unchecked, wire, yes } = flags
  return Effect.gen(function*() {
    const desired = yield* read(file)
    const synced = yield* Connection.use(flags, wire, () =>
      Effect.gen(function*() {
        const options = { keep, check: !unchecked }
        const found = yield* planRules(desired, options)
        yield* Effect.forEach(planLines(found), (line) => Console.error(Text.plain(line)), { discard: true })
        const isMeant = desired.length > 0 || allowEmpty
        yield* Prompt.agreeToDeletions(found.remove.length, found.rules, "rules", isMeant, yes)
        const speak = yield* Report.speaker
        const onProgress = (progress: Progress) => speak(stepOf(progress))
        return yield* syncRules(desired, { ...options, allowEmpty, overlap: overlap * 1000, onProgress })
      }).pipe(
        Effect.catchTag("InvalidRules", tellIn(file, desired)),
        ErrorReport.within({ resumable: "itself" })
      ))
    yield* Report.print(json, synced, () => [outcomeOf(synced)])
  })
}).pipe(
  Args.help(
    "Make the rules of the filtered stream those of a file: add missing ones, wait until streams follow, and delete the others. " +
      "Shows the plan first. The same command can be run again, and in several places at the same time.",
    "Make the rules of the filtered stream those of a file",
    {
      "postwire rules apply rules.txt": "Add, change and delete",
      "postwire rules apply rules.txt --yes --overlap 0": "In a script, where no stream is connected"
    }
  )
)

const list = Command.make(
  "list",
  { json: Report.json, wire: Connection.wire, ...Connection.flags },
  (flags) =>
    Effect.gen(function*() {
      const rules = yield* Connection.use(flags, flags.wire, () => Stream.runCollect(getStreamRules.items()))
      if (!flags.json && rules.length === 0) return yield* Report.say("There are no rules.")
      yield* Report.print(flags.json, { rules }, () => rules.map(RuleFile.line))
    })
).pipe(
  Args.help(
    "Print the rules of the filtered stream as a file for plan and apply; --json has their ids.",
    "Print the rules of the filtered stream",
    {
      "postwire rules list > rules.txt": "Create a file of the current rules"
    }
  )
)

export const command = Command.make("rules").pipe(
  Command.withSubcommands([plan, apply, list]),
  Args.help(
    "Keep the rules of the filtered stream in a file. Needs the app's bearer token; it is free.",
    lines.rules
  )
)

const read = Effect.fnUntraced(function*(file: string) {
  const parsed = RuleFile.parse(yield* TextFile.read(file, "a file of rules"))
  if (!("problem" in parsed)) return parsed
  const { column, problem, text } = parsed
  return yield* failAt(file, [{ place: parsed, end: text.length, detail: problem, at: column }])
})

/** Mistakes in the file, which were shown with their places. */
export class WrongRules extends Schema.TaggedError<WrongRules>()("WrongRules", { file: Schema.String }) {
  override readonly [Runtime.errorReported] = false
}

interface Mistake {
  readonly place: RuleFile.Place
  /** The UTF-16 offset in the line, if known. */
  readonly at?: number | undefined
  readonly end: number
  readonly detail: string
}

const failAt = Effect.fnUntraced(function*(file: string, mistakes: ReadonlyArray<Mistake>) {
  const { errors } = yield* Terminal
  const name = file === TextFile.standardInput ? "standard input" : file
  const messageOf = ({ at, detail, place: { line, text } }: Mistake) => {
    const where = `${Text.oneLine(name)}, line ${line}${
      at === undefined ? "" : `, character ${Array.from(text.slice(0, at)).length + 1}`
    }`
    return `${where}: ${Text.oneLine(detail).replace(/[.:]$/, "")}.`
  }
  const wrong = new WrongRules({ file })
  const failed = {
    tag: wrong._tag,
    message: mistakes.map(messageOf).join(" "),
    advice: "Change the file, then run the same command again; nothing was changed.",
    exitCode: Runtime.getErrorExitCode(wrong)
  }
  yield* Report.sayFailure(failed, [
    ...mistakes.flatMap((mistake) => {
      const { at, end, place: { text } } = mistake
      const said = `postwire: ${messageOf(mistake)}`
      return [
        ...(errors.isTerminal ? Text.wrap(said, errors.columns, 2) : [said]),
        ...(at === undefined
          ? [`  ${Text.cut(Text.oneLine(text), errors.columns - 2)}`]
          : Underline.lines(text, at, end, errors.columns - 2).map((shown) => `  ${shown}`))
      ]
    }),
    `  ${failed.advice}`
  ])
  return yield* wrong
})

const tellIn = (file: string, written: ReadonlyArray<RuleFile.Written>) => ({ rules }: InvalidRules) =>
  failAt(file, rules.flatMap((rule) => mistakeOf(rule, written)))

const mistakeOf = ({ detail, end, index, position }: RefusedRule, written: ReadonlyArray<RuleFile.Written>) => {
  const rule = written[index]
  if (rule === undefined) return []
  const place = RuleFile.placeOf(rule, position ?? 0)
  const mistake: Mistake = {
    place,
    at: position === undefined ? undefined : place.column,
    end: position === undefined ? 0 : place.column + (end ?? position) - position,
    detail
  }
  return [mistake]
}

const planLines = ({ add, cap, kept, remove, retag, rules, present }: RulesPlan): ReadonlyArray<string> => [
  [
    `${Text.quantity(rules, "rules")}${cap === undefined ? "" : ` of ${Text.count(cap)}`}`,
    `${Text.count(add.length)} to add`,
    ...(retag.length === 0 ? [] : [`${Text.count(retag.length)} with another tag`]),
    `${Text.count(remove.length)} to delete`,
    `${Text.count(present.length)} there already`,
    ...(kept.length === 0 ? [] : [`${Text.count(kept.length)} kept`])
  ].join(", "),
  ...remove.map((rule) => shown("-", rule)),
  ...add.map((rule) => shown("+", rule)),
  ...retag.map(({ isCovered, rule, tag }) =>
    `${shown("~", { value: rule.value, tag })} (was ${
      rule.tag === undefined ? "without a tag" : `[${Text.oneLine(rule.tag)}]`
    }${isCovered ? "" : "; missed for some 20 s"})`
  )
]

const shown = (sign: string, rule: WantedRule): string => `  ${sign} ${Text.oneLine(RuleFile.line(rule))}`

const stepOf = (progress: Progress): string =>
  progress.step === "waiting"
    ? `Old rules stay for ${Text.duration(progress.duration / 1000)}, until streams follow the new ones ...`
    : `${progress.step === "added" ? "Added" : "Deleted"} ${Text.quantity(progress.rules.length, "rules")}.`

const outcomeOf = ({ added, kept, removed, rules, uncovered }: SyncedRules): string =>
  [
    `${Text.quantity(rules.length + kept.length, "rules")}: ${Text.count(added.length)} added`,
    `${Text.count(removed.length)} deleted`,
    ...(uncovered.length === 0 ? [] : [`${Text.count(uncovered.length)} of them before their new tag was added`])
  ].join(", ")
