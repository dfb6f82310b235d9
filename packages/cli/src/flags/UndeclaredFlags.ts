/** Flags for undeclared parameters, under the service's names: members of the query, and JSON for the body. */
import type { Json, Members, Query } from "@postwire/core/wire/ExtraParameters"
import type * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as Stdio from "effect/Stdio"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as TextFile from "../terminal/TextFile.ts"

/** A flag for members of the query, each `NAME=VALUE`. */
export const query = (name: string): Flag.Flag<ReadonlyArray<string>> =>
  Args.many(name, "NAME=VALUE", "A query parameter with the service's name; repeatable")

export const body = (name: string, what: string): Flag.Flag<Option.Option<string>> =>
  Args.text(name, `${what}, as JSON or @FILE, with the service's names`, "JSON|@FILE")

/** The members of the query. Repeated ones form a list. Errors show no values, which may be secret. */
export const queryOf = (
  flag: string,
  given: ReadonlyArray<string>
): Effect.Effect<Query, ErrorReport.Failure> => {
  const members = new Map<string, Array<string>>()
  for (const member of given) {
    const at = member.indexOf("=")
    if (at < 1) {
      return ErrorReport.refuse(
        `--${flag} needs a name and a value`,
        `Write --${flag} NAME=VALUE; a value may be empty.`
      )
    }
    const name = member.slice(0, at)
    members.set(name, [...members.get(name) ?? [], member.slice(at + 1)])
  }
  return Effect.succeed(
    Object.fromEntries(Array.from(members, ([name, values]) => [name, values.length === 1 ? values[0] : values]))
  )
}

export const bodyOf = (
  flag: string,
  given: string
): Effect.Effect<Json, ErrorReport.Failure, FileSystem.FileSystem | Stdio.Stdio> =>
  Effect.flatMap(
    given.startsWith("@") ? TextFile.read(given.slice(1), "a file of JSON") : Effect.succeed(given),
    (text) => {
      try {
        const json: Json = JSON.parse(text)
        return Effect.succeed(json)
      } catch {
        return ErrorReport.refuse(`--${flag} is not JSON`, `Write --${flag} '{"name":"value"}' or --${flag} @FILE.`)
      }
    }
  )

export const extrasOf = Effect.fnUntraced(
  function*({ extraBody, extraQuery }: {
    readonly extraBody: Option.Option<string>
    readonly extraQuery: ReadonlyArray<string>
  }) {
    const query = extraQuery.length === 0 ? undefined : yield* queryOf("extra-query", extraQuery)
    const body = Option.isNone(extraBody) ? undefined : yield* bodyOf("extra-body", extraBody.value)
    if (body === undefined) return { extraQuery: query }
    if (!isMembers(body)) {
      return yield* ErrorReport.refuse("--extra-body is not an object", `Write --extra-body '{"name":"value"}'.`)
    }
    return { extraQuery: query, extraBody: body }
  }
)

const isMembers = (json: Json): json is Members => typeof json === "object" && json !== null && !Array.isArray(json)
