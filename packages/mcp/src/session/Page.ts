/** Pages of operations as lines; many rows go into a file instead. */
import { Client } from "@postwire/core/client/Client"
import { getMe, getUser } from "@postwire/core/operations/Users"
import { type Definition, largestPageOf, parametersOf } from "@postwire/core/schema/Definition"
import type * as Response from "@postwire/core/schema/Response"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { Refused } from "../money/Refused.ts"
import * as Fence from "../text/Fence.ts"
import * as Lines from "../text/Lines.ts"
import * as Files from "./Files.ts"
import * as Selections from "./Selections.ts"
import { Session } from "./Session.ts"
import type { Failure, Listing, Needs } from "./Tool.ts"
import * as Trusted from "./Trusted.ts"

/** The inputs that all tools that read have. */
export interface Given {
  readonly detail?: Lines.Detail | undefined
  readonly rows?: number | undefined
}

/** More rows than this go into a file. */
const mostRows = 100

const usualRows = 20

/** The rows of an operation. */
export const read = (
  definition: Definition,
  parameters: Readonly<Record<string, unknown>>,
  { detail = "normal", rows = usualRows }: Given
): Effect.Effect<Listing, Failure, Needs> =>
  Effect.gen(function*() {
    const { settings } = yield* Session
    const selected = { ...Selections.of(definition, detail, settings.trustedOnly === true), ...parameters }
    if (rows > mostRows && definition.paging !== undefined) return yield* Files.write(definition, selected, rows)
    const size = parametersOf(definition)["max_results"]?.bounds
    const sized = size?.of === "value"
      ? { max_results: Math.min(Math.max(rows, size.minimum), largestPageOf(definition) ?? size.maximum), ...selected }
      : selected
    return yield* page(definition, sized, { detail, rows })
  })

const page = (
  definition: Definition,
  parameters: Readonly<Record<string, unknown>>,
  given: Required<Given> & { readonly detail: Lines.Detail; readonly rows: number }
): Effect.Effect<Listing, Failure, Needs> =>
  Effect.gen(function*() {
    const client = yield* Client
    const response = yield* client.read(definition, yield* client.request(definition, parameters))
    const { next_token: token } = response.meta
    const { paging } = definition
    return {
      ...yield* linesOf(definition, response, given.detail),
      rows: given.rows,
      next: paging === undefined || token === undefined || token === ""
        ? undefined
        : page(definition, { ...parameters, [paging.token]: token }, given)
    }
  })

/** A response as lines: its data, and then what the service could not show. */
export const linesOf = (
  { result }: Pick<Definition, "result">,
  response: Pick<Response.Response<unknown, unknown>, "data" | "errors" | "author">,
  detail: Lines.Detail
): Effect.Effect<Listing, never, Session> =>
  Effect.gen(function*() {
    const options = yield* optionsOf(detail)
    const kind = result._tag === "One" || result._tag === "Many" ? result.kind : undefined
    const { data, errors } = response
    const items: ReadonlyArray<unknown> = Array.isArray(data) ? data : data === undefined ? [] : [data]
    const authors = items.map((item) => Predicate.isObject(item) ? itemOf(response.author(item)) : undefined)
    yield* remember([...items.map(itemOf), ...authors])
    return {
      lines: [
        ...items.map((item, i) => Lines.of(kind, item, authors[i], options)),
        ...errors.map(({ resource_id, title, value }) =>
          `not shown: ${Fence.id(resource_id ?? value)} (${
            title === undefined ? "?" : Fence.id(title.replaceAll(" ", "-"))
          })`
        ),
        ...items.length + errors.length === 0 ? ["nothing found"] : []
      ],
      hasStrangers: items.length > 0
    }
  })

/** Remembers users and lists, whose names complete inputs. A user's handle then needs no look-up. */
const remember = (items: Iterable<Lines.Item | undefined>): Effect.Effect<void, never, Session> =>
  Effect.map(Session, ({ lists, userIds }) => {
    for (const item of items) {
      if (item === undefined) continue
      const { id, member_count: members, name, username } = item
      if (typeof id !== "string" || !/^\d{1,19}$/.test(id)) continue
      if (typeof username === "string" && /^\w{1,15}$/.test(username)) userIds.set(username.toLowerCase(), id)
      else if (members !== undefined) lists.set(id, String(name).toLowerCase())
    }
  })

const itemOf = (value: unknown): Lines.Item | undefined => Predicate.isObject(value) ? { ...value } : undefined

/** The options of lines in this session, now. */
const optionsOf = (detail: Lines.Detail): Effect.Effect<Lines.Options, never, Session> =>
  Effect.gen(function*() {
    const session = yield* Session
    return {
      detail,
      now: yield* Clock.currentTimeMillis,
      isTrusted: session.settings.trustedOnly === true
        ? (user: Lines.Item | undefined) => Trusted.isTrusted(user, session)
        : () => true
    }
  })

/** Finds the id of a user by an id or a handle, with or without `@`; of the account itself if none is given. */
export const userIdOf = (user: string | undefined): Effect.Effect<string, Failure, Needs> =>
  Effect.gen(function*() {
    if (user !== undefined && /^\d{1,19}$/.test(user)) return user
    const { userIds } = yield* Session
    const username = user?.replace(/^@/, "")
    const key = username?.toLowerCase() ?? ""
    const known = userIds.get(key)
    if (known !== undefined) return known
    const { definition }: { readonly definition: Definition } = username === undefined ? getMe : getUser
    const client = yield* Client
    const asked = username === undefined ? {} : { username }
    const { data } = yield* client.read(definition, yield* client.request(definition, asked))
    if (!Predicate.hasProperty(data, "id")) {
      return yield* new Refused({
        reason: "user: the service knows no user with this handle.",
        advice: "Check the spelling, or find the user with call_operation and searchUsers."
      })
    }
    userIds.set(key, String(data.id))
    return String(data.id)
  })
