/** Statements about errors in terms of the command line, where an error's own is for programs. */
import { environmentVariable } from "@postwire/core/errors/Errors"
import * as Predicate from "effect/Predicate"

const flagOf = (parameter: string): string => `--${parameter.replaceAll("_", "-")}`

/** A rule across parameters, with their flags. */
const inFlags = (rule: string): string =>
  rule
    .replace(/(?<=\bat least one of )[\w, ]+(?= is required$)/, (names) => names.split(", ").map(flagOf).join(", "))
    .replace(/(\w+)( needs )(\w+)$/, (_, name: string, needs: string, other: string) =>
      flagOf(name) + needs + flagOf(other))
    .replace(/(?<=\bgiven together with )\w+$/, flagOf)

/** The settings that commands read from variables only. */
const variables = new Set([
  "baseUrl",
  "wire",
  "bearerToken",
  "appBearerToken",
  "consumerKey",
  "consumerSecret",
  "accessToken",
  "accessTokenSecret"
])

/** Tests whether no service is set at all. */
export const isWithoutService = ({ rule, setting }: Readonly<Record<string, unknown>>): boolean =>
  setting === "baseUrl" && String(rule).startsWith("is missing")

const statements: Readonly<Record<string, (error: Readonly<Record<string, unknown>>, message: string) => string>> = {
  ConflictingIdentifiers: ({ parameters }, message) =>
    Array.isArray(parameters)
      ? parameters.reduce<string>(
        (text, name: string) => text.replaceAll(new RegExp(`\\b${name}\\b`, "g"), flagOf(name)),
        message
      )
      : message,
  InvalidParameters: ({ operation, parameter, rule }, message) =>
    operation === "request"
      ? message
      : message.replace(/: (\w+) /, (place, name) => name === parameter ? `: ${flagOf(name)} ` : place)
        .replace(String(rule), inFlags),
  InvalidSettings: (error, message) =>
    isWithoutService(error)
      ? "No service: POSTWIRE_BASE_URL is not set."
      : message.replace(/^\w+/, (setting) => variables.has(setting) ? environmentVariable(setting) : setting),
  MissingAccessToken: ({ credential, missing, operation }) =>
    Array.isArray(missing) && missing.includes("appBearerToken")
      ? `No token of an app: ${operation} needs its bearer token.`
      : credential === "oauth1"
      ? `No token of a user: ${operation} needs OAuth 1.0a.`
      : `No token: ${operation} needs a bearer token.`
}

/** The statement of an error whose own is `message`. */
export const of = (error: unknown, message: string): string =>
  Predicate.isObject(error) && "_tag" in error
    ? statements[String(error["_tag"])]?.({ ...error }, message) ?? message
    : message
