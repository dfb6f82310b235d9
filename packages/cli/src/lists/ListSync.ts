/** `postwire lists sync`: makes the members of a list those of a file. Shows the plan first, and the results at the end. */
import { addListMember, getList, getListMembers } from "@postwire/core/operations/Lists"
import { getUsers } from "@postwire/core/operations/Users"
import { pageSizeOf } from "@postwire/core/schema/Definition"
import { idsPerRequest } from "@postwire/core/workflows/Hydrate"
import {
  allowedRemovals,
  knownPlan,
  type Member,
  type MembersPlan,
  type Outcome,
  planListMembers,
  type Progress,
  type SyncedMembers,
  syncListMembers
} from "@postwire/core/workflows/ListMembers"
import * as Rows from "@postwire/export/rows/Rows"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as Connection from "../connection/Connection.ts"
import * as Spending from "../connection/Spending.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as ProgressBar from "../terminal/ProgressBar.ts"
import * as Prompt from "../terminal/Prompt.ts"
import * as Report from "../terminal/Report.ts"
import * as Text from "../terminal/Text.ts"

const flags = {
  list: Argument.String("list").pipe(Argument.withDescription("The id of your list")),
  file: Argument.String("file").pipe(
    Argument.withDescription("The members: ids or usernames as lines, CSV or JSON Lines; - is standard input")
  ),
  column: Args.text("column", "The column with them (default: the first known one, such as id or username)", "NAME"),
  keep: Args.toggle("keep", "Only add; keep members who are not in the file"),
  dryRun: Args.toggle("dry-run", "Only show the plan, name by name"),
  maxRemovals: Args.int("max-removals", 0).pipe(
    Args.optional("The most members to remove (default: half of them; none with an empty file)")
  ),
  ...Spending.flags,
  yes: Args.toggle("yes", "Do not ask, whatever the cost and the number of removals"),
  json: Report.json,
  wire: Connection.wire,
  ...Connection.flags
}

export const command = Command.make("sync", flags, (given) => run(given)).pipe(
  Args.help(
    "Make the members of a list those of a file: add missing ones, remove others, with one request each, at the pace of the " +
      "rate limit. Shows the plan first. After an interruption, the same command continues.",
    "Make the members of a list those of a file",
    {
      "postwire lists sync 1441162269824405510 users.csv --dry-run": "Show the changes",
      "postwire lists sync 1441162269824405510 users.csv": "Make the changes; run it again after an interruption",
      "grep -v '^#' friends.txt | postwire lists sync 1441162269824405510 - --keep": "Only add"
    }
  )
)

type Flags = Command.Command.Config.Infer<typeof flags>

const run = Effect.fnUntraced(function*(flags: Flags) {
  const { dryRun, json, keep, list, wire } = flags
  const desired = yield* read(flags)
  yield* Connection.use(flags, wire, ({ userAuth: user_auth, variables }) =>
    Effect.gen(function*() {
      const options = { keep, user_auth }
      const { isRead, title } = yield* announce(flags, desired, options)
      const plan = yield* planListMembers(list, desired, options)
      const price = priceOf(plan)
      const spent = isRead ? priceOfReading(plan.members, lookedUp(plan)).micros : 0
      if (dryRun) {
        return yield* Report.print(json, { ...plan, ...Spending.plain(price) }, () => [
          summaryOf(plan, title),
          ...named(plan),
          Spending.describe(price)
        ])
      }
      yield* Report.say(
        plan.done === 0
          ? `${summaryOf(plan, title)}.`
          : `Resumed: ${Text.count(plan.done)} of ${Text.quantity(plan.done + plan.requests, "changes")} are made.`
      )
      const maxRemovals = yield* agreeToRemovals(plan, flags)
      if (plan.requests > 0) yield* Spending.confirmCost(flags, { ...price, spent })
      const steps = yield* makeSteps(plan)
      const synced = yield* syncListMembers(list, desired, { ...options, maxRemovals, onProgress: steps.onProgress })
        .pipe(
          Effect.ensuring(Effect.sync(steps.end)),
          Effect.onError(() => steps.sayWhereItStands)
        )
      yield* Report.print(json, synced, () => outcomesOf(synced))
      if (synced.refused > 0) {
        return yield* new ErrorReport.PartialErrors({
          operation: "lists sync",
          errors: synced.refused,
          advice: "They are listed above; all others are done."
        })
      }
    }).pipe(
      ErrorReport.inFlags((parameter) => subjectOf(parameter, flags)),
      ErrorReport.within({ resumable: "itself" }),
      Effect.provide(Connection.layerJournal(variables))
    ))
}, Effect.scoped)

const read = Effect.fnUntraced(function*({ column, file }: Flags) {
  const { stdin } = yield* Stdio.Stdio
  const rows = yield* Rows.open(file, {
    kind: Rows.users,
    column: Option.getOrUndefined(column),
    stdin: Stream.toAsyncIterable(stdin)
  })
  const batches = yield* Stream.runCollect(rows.batches(1_000))
  return batches.flatMap((batch) => batch.map(({ value }) => value))
})

const subjectOf = (parameter: string, { file, list }: Flags): ErrorReport.Subject | undefined =>
  parameter === "list"
    ? { name: `The list ${list}`, isFile: false }
    : parameter.startsWith("desired")
    ? { name: file, isFile: true }
    : undefined

/** Shows the cost of reading members and looking up names, unless the plan of an earlier run is still valid. */
const announce = Effect.fnUntraced(function*(
  flags: Flags,
  desired: ReadonlyArray<string>,
  options: { readonly keep: boolean; readonly user_auth: boolean }
) {
  const { list } = flags
  if ((yield* knownPlan(list, desired, options)) !== undefined) return { title: `List ${list}`, isRead: false }
  const { data } = yield* getList({ id: list, list_fields: ["member_count"], user_auth: options.user_auth })
  const { member_count: members = 0, name = `List ${list}` } = data ?? {}
  const title = Text.oneLine(name)
  // An upper bound: names of members are not looked up.
  const price = priceOfReading(members, desired.filter(isName).length)
  if (price.items === 0) return { title, isRead: false }
  yield* Spending.confirmCost(flags, price)
  return { title, isRead: true }
})

const isName = (value: string): boolean => value.startsWith("@")

/** The cost of reading members and looking up names. */
const priceOfReading = (members: number, names: number): Spending.Price => {
  const { definition } = getListMembers
  const [pages, lookUps] = [Math.ceil(members / pageSizeOf(definition)), Math.ceil(names / idsPerRequest)]
  return {
    items: members + names,
    of: "users to read",
    requests: pages + lookUps,
    micros: Spending.mostOf(definition, {}, { items: members, requests: pages }) +
      Spending.mostOf(getUsers.definition, {}, { items: names, requests: lookUps })
  }
}

/** The users found by name: unknown names cost nothing. */
const lookedUp = ({ add }: MembersPlan): number => add.filter(({ username }) => username !== undefined).length

const priceOf = ({ duration, requests }: MembersPlan): Spending.Price => ({
  items: requests,
  of: "changes",
  requests,
  micros: Spending.mostOf(addListMember.definition, {}, { items: requests, requests }),
  duration
})

const summaryOf = ({ add, kept, members, remove, present, unknown }: MembersPlan, title: string): string =>
  [
    `${title}: ${Text.quantity(members, "members")}`,
    `${Text.count(add.length)} to add`,
    `${Text.count(remove.length)} to remove`,
    `${Text.count(present.length)} there already`,
    ...(kept.length === 0 ? [] : [`${Text.count(kept.length)} kept`]),
    ...(unknown.length === 0 ? [] : [`${Text.count(unknown.length)} unknown`])
  ].join(", ")

const nameOf = ({ id, username }: Member): string => Text.oneLine(username === undefined ? id ?? "" : `@${username}`)

const named = ({ add, remove, unknown }: MembersPlan): ReadonlyArray<string> => [
  ...remove.map((user) => `  - ${nameOf(user)}`),
  ...add.map((user) => `  + ${nameOf(user)}`),
  ...unknown.map((user) => `  ? ${refusedLine(user)}`)
]

const refusedLine = (user: Outcome): string => {
  const { detail, reason = "refused" } = user.refusal ?? {}
  return Text.oneLine(`${nameOf(user)}: ${reason}${detail === undefined ? "" : ` (${detail})`}`)
}

/** Protects against removing most members by an empty or wrong file. */
const agreeToRemovals = Effect.fnUntraced(function*(plan: MembersPlan, { maxRemovals, yes }: Flags) {
  const removals = plan.remove.length
  const most = Option.getOrElse(maxRemovals, () => yes ? removals : allowedRemovals(plan))
  if (removals <= most) return most
  const what = `${Text.count(removals)} of ${Text.quantity(plan.members, "members")}`
  if (Option.isNone(maxRemovals) && (yield* Prompt.confirm(`Remove ${what}?`))) return removals
  return yield* ErrorReport.refuse(
    `${what} would be removed`,
    `--dry-run lists them. --max-removals ${removals} or --yes removes them, --keep removes none. Nothing was changed.`
  )
})

/** Shows progress: a bar on a terminal, elsewhere a line now and then. */
const makeSteps = Effect.fnUntraced(function*(plan: MembersPlan) {
  let last: Progress | undefined
  let refused = plan.unknown.length
  const bar = yield* ProgressBar.make<Progress>({
    elsewhere: "seldom",
    usualLength: 56,
    show: ({ done, of }, seconds) => ({
      done: of === 0 ? 1 : done / of,
      step: done,
      facts: [
        `${Text.count(done)} of ${Text.quantity(of, "changes")}`,
        ...(refused === 0 ? [] : [`${Text.count(refused)} refused`]),
        ...(done === plan.done || done === of
          ? []
          : [
            `${
              Text.duration(
                Math.max(seconds * (of - done) / (done - plan.done), plan.duration / 1000 * (of - done) / of)
              )
            } to go`
          ])
      ]
    })
  })
  return {
    onProgress: (progress: Progress) => {
      last = progress
      if (progress.last.became === "refused") refused++
      bar.update(progress)
    },
    end: bar.end,
    sayWhereItStands: Effect.suspend(() =>
      last === undefined
        ? Effect.void
        : Report.say(
          `${Text.count(last.done)} of ${Text.quantity(last.of, "changes")} are made. The same command continues.`
        )
    )
  }
})

/** The results: counts, and the reasons of refusals. */
const outcomesOf = ({ added, kept, outcomes, refused, removed, present }: SyncedMembers): ReadonlyArray<string> => [
  [
    `${Text.count(added)} added`,
    `${Text.count(removed)} removed`,
    `${Text.count(present)} there already`,
    ...(kept === 0 ? [] : [`${Text.count(kept)} kept`]),
    ...(refused === 0 ? [] : [`${Text.count(refused)} refused`])
  ].join(", "),
  ...outcomes.filter(({ became }) => became === "refused").map((user) => `  ${refusedLine(user)}`)
]
