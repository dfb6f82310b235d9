/** The subjects that a run reads, and the ids that they stand for. */
import type { Client } from "@postwire/core/client/Client"
import { dataOf } from "@postwire/core/client/DataOf"
import type { AnyError } from "@postwire/core/errors/Errors"
import { getMe, getUser } from "@postwire/core/operations/Users"
import * as Codecs from "@postwire/core/schema/Codecs"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Copy from "../copy/Copy.ts"
import { type SubjectUnavailable, unavailable } from "../copy/CopyErrors.ts"
import { type Kind, type KindName, kinds } from "../sources/Kinds.ts"
import { isDue, millisOf, nameOf, type Source, subjectsOf } from "../sources/SyncFile.ts"
import * as windows from "./Window.ts"

/** A subject to read. */
export interface Due {
  readonly source: Source
  readonly subject: string
  readonly state: windows.State
}

/** The subjects of sources that are due, or have a window that is open. */
export const dueOf = (copy: Copy.Copy, sources: ReadonlyArray<Source>): Effect.Effect<ReadonlyArray<Due>, SqlError> =>
  Effect.map(Effect.forEach(sources, (source) => dueIn(copy, source)), (due) => due.flat())

/**
 * The turns in which subjects are read: those of which only new items are listed, and then the others. The service may not list the
 * new ones later, whereas a list can wait. In each, those that were read longest ago come first.
 */
export const turnsOf = (due: ReadonlyArray<Due>): ReadonlyArray<ReadonlyArray<Due>> => {
  const oldestFirst = due.toSorted((a, b) => (a.state.doneAt ?? 0) - (b.state.doneAt ?? 0))
  return [oldestFirst.filter(isNews), oldestFirst.filter((one) => !isNews(one))]
}

const isNews = ({ source, state }: Due): boolean =>
  isPaged(source.kind) && kinds[source.kind].how === "since" && state.doneAt !== undefined

const dueIn = Effect.fnUntraced(function*(copy: Copy.Copy, source: Source) {
  const known = yield* Copy.progressOf(copy, nameOf(source))
  const now = yield* Clock.currentTimeMillis
  const every = source.every === undefined ? 0 : millisOf(source.every)
  return subjectsOf(source).flatMap((subject): ReadonlyArray<Due> => {
    const state = windows.stateOf(known.get(subject))
    const isOpen = state.doneAt === undefined || state.window !== undefined
    return isOpen || isDue(state.doneAt, every, now) ? [{ source, subject, state }] : []
  })
})

/** Checks whether an operation lists the items of a source. */
export const isPaged = (kind: Source["kind"]): kind is KindName => Object.hasOwn(kinds, kind)

/** Finds the id that requests name. */
export type Identify = (of: Kind["of"], subject: string) => Effect.Effect<string, AnyError | SubjectUnavailable, Client>

/** Finds ids. That of the account itself is bought once: the sources of a copy have the same account. */
export const identify = Effect.fnUntraced(function*(
  copy: Copy.Copy,
  userAuth: boolean
): Effect.fn.Return<Identify, SqlError> {
  const own = yield* copy.sql.unsafe<{ readonly state: string }>("SELECT state FROM progress WHERE subject = 'me'")
  const known = own.map(({ state }) => windows.stateOf(state).id ?? "").find((id) => Codecs.idPattern.test(id))
  const me = known === undefined
    ? yield* Effect.cached(Effect.map(dataOf("getMe", getMe({ user_auth: userAuth })), ({ id }) => id))
    : Effect.succeed(known)
  return (of, subject) =>
    of === "query" || of === "lists"
      ? Effect.succeed(subject)
      : subject === "me"
      ? me
      : subject.startsWith("@")
      ? Effect.flatMap(
        getUser({ username: subject.slice(1), user_auth: userAuth }),
        ({ data, errors }) => data === undefined ? Effect.fail(unavailable(subject, errors)) : Effect.succeed(data.id)
      )
      : Effect.succeed(subject)
})
