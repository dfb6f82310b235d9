/** `postwire lists`: imports and exports the members of a list, and shows all lists of a user. */
import { getFollowedLists, getListMembers, getOwnedLists } from "@postwire/core/operations/Lists"
import { getMe, getUser } from "@postwire/core/operations/Users"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Connection from "../connection/Connection.ts"
import * as EachFlags from "../exporting/EachFlags.ts"
import * as OperationFlags from "../flags/OperationFlags.ts"
import * as ListSync from "../lists/ListSync.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Report from "../terminal/Report.ts"
import * as Table from "../terminal/Table.ts"
import { Terminal } from "../terminal/Terminal.ts"
import * as ExportCommand from "./ExportCommand.ts"
import { lines } from "./Lines.ts"

const members = getListMembers.definition

const exporting = Command.make(
  "export",
  {
    list: Argument.String("list").pipe(Argument.withDescription("The id of the list")),
    flags: ExportCommand.commonFlags,
    parameters: OperationFlags.make(members, { without: ["id", ...OperationFlags.pageToken(members)] })
  },
  ({ flags, list, parameters }) =>
    ExportCommand.run(members, { ...OperationFlags.parametersOf(parameters), id: list }, {
      partitions: Option.none(),
      ...EachFlags.none,
      ...flags
    })
).pipe(
  Args.help(
    "Export the members of a list into a file, which lists sync can read.",
    "Export the members of a list into a file",
    {
      "postwire lists export 1441162269824405510 --out members.csv": "Ids, names and usernames as CSV"
    }
  )
)

const all = Command.make(
  "all",
  {
    user: Argument.String("user").pipe(
      Argument.withDescription("An id or a username (default: the user of the credentials)"),
      Argument.optional
    ),
    json: Report.json,
    wire: Connection.wire,
    ...Connection.flags
  },
  (flags) =>
    Effect.gen(function*() {
      const { json, user, wire } = flags
      const lists = yield* Connection.use(flags, wire, ({ userAuth }) => allOf(user, userAuth))
      const { output } = yield* Terminal
      yield* Report.print(json, { lists }, () => Table.render({ data: lists }, output.columns))
    })
).pipe(
  Args.help(
    "Show all lists of a user, as on the site: those that they own and those that they follow.",
    "Show the lists that a user owns and follows",
    {
      "postwire lists all ada": "The lists of @ada"
    }
  )
)

export const command = Command.make("lists").pipe(
  Command.withSubcommands([ListSync.command, exporting, all]),
  Args.help(
    "Change and export the members of lists, and show the lists of a user.",
    lines.lists
  )
)

const allOf = Effect.fnUntraced(function*(user: Option.Option<string>, user_auth: boolean) {
  const id = yield* idOf(user, user_auth)
  const parameters = {
    id,
    list_fields: ["member_count", "follower_count", "private"],
    max_results: 100,
    user_auth
  } as const
  const [owned, followed] = yield* Effect.all([
    Stream.runCollect(getOwnedLists.items(parameters)),
    Stream.runCollect(getFollowedLists.items(parameters))
  ])
  const own = new Set(owned.map(({ id }) => id))
  const lists = [
    ...owned.map((list) => ({ list, is: "owned" })),
    ...followed.filter(({ id }) => !own.has(id)).map((list) => ({ list, is: "followed" }))
  ]
  return lists.map(({ is, list: { follower_count: followers, id, member_count: members, name, ...list } }) => ({
    id,
    name,
    is,
    members,
    followers,
    private: list.private
  }))
})

const idOf = Effect.fnUntraced(function*(user: Option.Option<string>, user_auth: boolean) {
  const given = Option.getOrUndefined(user)
  if (given !== undefined && /^[0-9]{1,19}$/.test(given)) return given
  const { data, errors } = yield* given === undefined
    ? getMe({ user_auth })
    : getUser({ username: given.replace(/^@/, ""), user_auth })
  if (data !== undefined) return data.id
  yield* Report.sayProblems(errors)
  return yield* ErrorReport.refuse(`There is no user ${given ?? ""}`, "Check the name.")
})
