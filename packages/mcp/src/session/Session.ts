/** The state of a session of a host, and the settings of its server. */
import type { Client } from "@postwire/core/client/Client"
import type { AnyError } from "@postwire/core/errors/Errors"
import type { UploadError } from "@postwire/core/media/UploadOptions"
import type { Definition } from "@postwire/core/schema/Definition"
import type { Scope } from "@postwire/core/schema/Scopes"
import type * as Prices from "@postwire/core/spend/Prices"
import type { Journal } from "@postwire/core/storage/Journal"
import type { ExportError } from "@postwire/export/files/ExportErrors"
import { type InputRequired, type McpRequestContext, McpServerClient } from "effect/ai/McpSchema"
import type { McpServer } from "effect/ai/McpServer"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Semaphore from "effect/Semaphore"
import type { DryRun, Gate } from "../money/Gate.ts"
import type { Ledger } from "../money/Ledger.ts"
import type { Refused } from "../money/Refused.ts"

/** A group of tools, for `--toolsets`. */
export const toolsets = [
  "posts",
  "users",
  "lists",
  "bookmarks",
  "trends",
  "messages",
  "jobs",
  "catalogue",
  "writes"
] as const

/** A group of tools, for `--toolsets`. */
export type Toolset = typeof toolsets[number]

/** Settings of a server. */
export interface Settings {
  /** Includes tools that write. Default false. */
  readonly allowWrites?: boolean | undefined
  /** The sets of tools to offer. Default: all. */
  readonly toolsets?: ReadonlyArray<Toolset> | undefined
  /** The scopes of the account's token: tools that need others are not offered. Default: unknown, all are. */
  readonly scopes?: ReadonlyArray<Scope> | undefined
  /** Shows texts only of users whom the account follows, who are verified or in a trusted list. Default false. */
  readonly trustedOnly?: boolean | undefined
  /** The ids of lists whose members are trusted. A session reads them once. */
  readonly trustedLists?: ReadonlyArray<string> | undefined
  /** A call that may cost more than this, in micro-dollars, needs the user's consent. Default 500,000. */
  readonly askAbove?: number | undefined
  /** The prices that the client counts. Default: the current ones. */
  readonly prices?: Prices.Prices | undefined
  /** The folder for large results. Without one, they are refused. */
  readonly folder?: string | undefined
  /** True to sign with OAuth 1.0a where an operation accepts both that and a bearer token. Default false. */
  readonly userAuth?: boolean | undefined
  /** The id of the account's user, whose own texts are trusted. */
  readonly userId?: string | undefined
  /** The name of the account, for exports. */
  readonly account?: string | undefined
  /** The command line that starts `postwire` in a terminal of the user. Default: its name. */
  readonly command?: string | undefined
}

/** A file that this session has written. */
export interface Written {
  readonly name: string
  /** The call that writes it: the same call continues an unfinished file, once the one before has ended. */
  readonly call: string
  readonly turn: Semaphore.Semaphore
  readonly path: string
  readonly definition: Definition
  readonly rows: number
  /** `unfinished` while it is written, and after a failure or a cancellation. */
  readonly status: "unfinished" | "done" | "partial" | "interrupted"
}

/** Why a tool fails. `InputRequired` is no failure: the host asks its user, and calls again. */
export type Failure = AnyError | UploadError | ExportError | Refused | DryRun | InputRequired

/** The services that tools use. */
export type Needs = Client | Journal | Session | Ledger | Gate | McpRequestContext | McpServer

/** A file that holds a large result, as a resource: reading it returns its beginning. */
export interface Link {
  readonly uri: string
  readonly name: string
}

/** The result of a tool. */
export interface Listing {
  readonly lines: ReadonlyArray<string>
  /** The most lines in one answer, which keeps within its budget. Without it, the answer is whole. */
  readonly rows?: number | undefined
  /** Requests the lines that follow. */
  readonly next?: Effect.Effect<Listing, Failure, Needs> | undefined
  readonly link?: Link | undefined
  /** True if there are texts of strangers in it. */
  readonly hasStrangers?: boolean | undefined
}

/** The rest of an answer of a tool. */
export interface Place {
  readonly tool: string
  readonly rest: Listing
}

/** A question to the user by a host that calls again. */
export interface Asked {
  readonly handle: string
  readonly until: number
  /** The handles of the same call to which the user has agreed. */
  readonly accepted: Set<string>
}

/** The state of a session. */
export class Session extends Context.Service<Session, {
  readonly settings: Settings
  /** By their names. */
  readonly written: Map<string, Written>
  /** The ids of users by their handles in lower case. */
  readonly userIds: Map<string, string>
  /** The members of trusted lists, once they were read. */
  listed: ReadonlySet<string> | undefined
  /** Parallel calls read the lists once. */
  readonly listing: Semaphore.Semaphore
  /** The rests of answers by their handles, oldest first. */
  readonly cursors: Map<string, Place>
  /** The questions that have no answer yet, by their states. */
  readonly asked: Map<string, Asked>
  /** The names of lists in lower case, by their ids. */
  readonly lists: Map<string, string>
  /** True once an answer had texts of strangers: writes after that need the user's consent. */
  hasReadStrangers: boolean
}>()("@postwire/mcp/session/Session") {}

const make = (settings: Settings): Session["Service"] => ({
  settings,
  written: new Map(),
  userIds: new Map(),
  lists: new Map(),
  listed: undefined,
  listing: Semaphore.makeUnsafe(1),
  cursors: new Map(),
  asked: new Map(),
  hasReadStrangers: false
})

/** The state that requests without a session share. */
export const layer = (settings: Settings): Layer.Layer<Session> => Layer.sync(Session, () => make(settings))

/** The states of sessions, which end with their sessions. */
const states = new WeakMap<object, Session["Service"]>()

/** Runs the answer to a request with the state of its session, if its revision has sessions. */
export const ofRequest = <A, E, R>(answer: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Session> =>
  Effect.gen(function*() {
    const shared = yield* Session
    const client = yield* Effect.serviceOption(McpServerClient)
    if (Option.isNone(client)) return yield* answer
    const { initializePayload: key } = client.value
    const own = states.get(key) ?? make(shared.settings)
    states.set(key, own)
    return yield* Effect.provideService(answer, Session, own)
  })
