/** The files of `postwire config`: defaults of a user and of a project, which variables and flags override. */
import { names as wires } from "@postwire/core/wire/Wire"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as UserDirectories from "effect/persistence/UserDirectories"
import * as Predicate from "effect/Predicate"
import { closestMatch } from "leven"
import { existsSync } from "node:fs"
import { mkdir, readFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as OutputFile from "../terminal/OutputFile.ts"

/** A default that has a variable. */
export interface Setting {
  readonly name: string
  readonly variable: string
  readonly text: string
  /** False if only the user's own file may have it: a project may be somebody else's work. */
  readonly isOfProjects: boolean
  /** What a value must be, and the value that counts without one, if there is one. */
  readonly rule: string
  readonly accepts: (value: string) => boolean
  readonly usual?: string
}

const amount = { rule: "must be dollars, as 12.50", accepts: (value: string) => Number(value) >= 0 }

export const settings: ReadonlyArray<Setting> = [
  {
    name: "account",
    variable: "POSTWIRE_ACCOUNT",
    text: "The account of postwire login that commands use",
    isOfProjects: true,
    rule: "must be the name of an account",
    accepts: (value) => /^\w[\w-]{0,31}$/.test(value)
  },
  {
    name: "wire",
    variable: "POSTWIRE_WIRE",
    text: `The service's field names: ${wires.join(", ")}`,
    isOfProjects: true,
    rule: `must be ${wires.join(", ")}`,
    accepts: (value) => wires.some((wire) => wire === value),
    usual: "neutral"
  },
  {
    name: "clientId",
    variable: "POSTWIRE_CLIENT_ID",
    text: "The app of postwire login",
    isOfProjects: true,
    rule: "must be the client id of an app",
    accepts: (value) => /^[\w:-]+$/.test(value)
  },
  {
    name: "baseUrl",
    variable: "POSTWIRE_BASE_URL",
    text: "The address of the service",
    isOfProjects: false,
    rule: "must be an address that begins with https:// or http://",
    accepts: (value) => /^https?:\/\/[^/@?#]+/.test(value) && URL.canParse(value)
  },
  {
    name: "askAbove",
    variable: "POSTWIRE_ASK_ABOVE",
    text: "The price in dollars above which a command asks",
    isOfProjects: false,
    ...amount,
    usual: "5"
  },
  {
    name: "spendPerDay",
    variable: "POSTWIRE_SPEND_PER_DAY",
    text: "Dollars that all commands together may spend in a day",
    isOfProjects: false,
    ...amount
  },
  {
    name: "spendPerMonth",
    variable: "POSTWIRE_SPEND_PER_MONTH",
    text: "Dollars that all commands together may spend in a month",
    isOfProjects: false,
    ...amount
  },
  {
    name: "unknownPrice",
    variable: "POSTWIRE_UNKNOWN_PRICE",
    text: "The most in dollars that a request without a published price costs",
    isOfProjects: false,
    ...amount
  }
]

/** A file of settings. */
export interface File {
  readonly of: "user" | "project"
  readonly path: string
}

/** The name of a project's file. */
const projectName = "postwire.json"

/** The file of this user, which may not exist; none without a home folder. */
export const userFile = UserDirectories.make().config("postwire").pipe(
  Effect.map((folder): File => ({ of: "user", path: join(folder, "config.json") }))
)

/** The nearest file of a project, in this folder or one above; otherwise that of this folder, which does not exist. */
export const projectFile = Effect.sync((): File => {
  const here = process.cwd()
  for (let folder = here;; folder = dirname(folder)) {
    const path = join(folder, projectName)
    if (existsSync(path)) return { of: "project", path }
    if (folder === dirname(folder)) return { of: "project", path: join(here, projectName) }
  }
})

/** The setting of a name. Secrets are refused: these files are neither private nor checked for their mode. */
export const find = (name: string): Effect.Effect<Setting, ErrorReport.Failure> => {
  const found = settings.find((setting) => setting.name === name || setting.variable === name)
  if (found !== undefined) return Effect.succeed(found)
  if (/token|secret|password|key/i.test(name)) {
    return ErrorReport.refuse(
      `${name} is not kept in a configuration file: others may read it`,
      "Sign in with postwire login, or put it in a file for --credentials, mode 0600."
    )
  }
  const names = settings.map((setting) => setting.name)
  const meant = closestMatch(name, names, { maxDistance: 3 })
  return ErrorReport.refuse(
    `There is no setting "${name}"`,
    `${meant === undefined ? "" : `Did you mean ${meant}? `}There are ${names.join(", ")}.`
  )
}

/** Refuses a value that a setting cannot have in a file. */
export const check = ({ accepts, isOfProjects, name, rule }: Setting, value: string, { of, path }: File) =>
  of === "project" && !isOfProjects
    ? ErrorReport.refuse(
      `${path}: a project does not decide ${name}`,
      `Set it for yourself: postwire config set ${name} ${value}`
    )
    : accepts(value)
    ? Effect.void
    : ErrorReport.refuse(`${name} ${rule}. Got ${JSON.stringify(value)}.`, `Correct it in ${path}.`)

/** The settings in a file by name; none if it does not exist. */
export const read = Effect.fnUntraced(function*(file: File) {
  const text = yield* Effect.tryPromise({
    try: () => existsSync(file.path) ? readFile(file.path, "utf8") : Promise.resolve("{}"),
    catch: (cause) => unusable(file, `it cannot be read (${String(cause)})`)
  })
  const json = yield* Effect.try({
    try: (): unknown => JSON.parse(text),
    catch: () => unusable(file, "it is not JSON")
  })
  if (!Predicate.isObject(json)) return yield* unusable(file, "it is not an object of JSON")
  const values: Record<string, string> = {}
  for (const [name, value] of Object.entries(json)) {
    const setting = yield* Effect.mapError(find(name), ({ advice, message }) =>
      new ErrorReport.Failure({
        message: `${file.path}: ${message}`,
        advice
      }))
    yield* check(setting, String(value), file)
    values[setting.name] = String(value)
  }
  return values
})

const unusable = ({ path }: File, reason: string) =>
  new ErrorReport.Failure({
    message: `${path}: ${reason}`,
    advice: `Correct it, as in {"account": "ada"}, or remove it.`
  })

/** The files by precedence, the strongest first. */
export const files = Effect.gen(function*() {
  return [yield* projectFile, ...Option.toArray(yield* Effect.option(userFile))]
})

/** The settings of all files with the file that each is from. */
export const all = Effect.gen(function*() {
  const found = new Map<string, { readonly value: string; readonly file: File }>()
  for (const file of (yield* files).reverse()) {
    for (const [name, value] of Object.entries(yield* read(file))) found.set(name, { value, file })
  }
  return found
})

/** The settings of all files as variables. */
export const variables = Effect.map(
  all,
  (found): Readonly<Record<string, string | undefined>> =>
    Object.fromEntries(settings.map(({ name, variable }) => [variable, found.get(name)?.value]))
)

/** Changes a setting of a file; `undefined` removes it. */
export const change = Effect.fnUntraced(function*(file: File, { name }: Setting, value: string | undefined) {
  const text = JSON.stringify({ ...yield* read(file), [name]: value }, null, 2)
  yield* Effect.tryPromise({
    try: () => mkdir(dirname(file.path), { recursive: true }),
    catch: (cause) =>
      new ErrorReport.Failure({
        message: `${file.path}: it cannot be written (${String(cause)})`,
        advice: "Check the folder, its permissions and the free space."
      })
  })
  yield* OutputFile.replace(file.path, `${text}\n`)
})
