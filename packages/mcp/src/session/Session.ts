/** The state that the tools of one server share, and its settings. */
import type { Scope } from "@postwire/core/schema/Scopes"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import type { Toolset } from "./Toolset.ts"

/** Settings of a server. */
export interface Settings {
  /** Includes tools that write. Default false. */
  readonly allowWrites?: boolean | undefined
  /** The sets of tools to offer. Default: all. */
  readonly toolsets?: ReadonlyArray<Toolset> | undefined
  /** The scopes of the account's token: tools that need others are not offered. Default: unknown, all are. */
  readonly scopes?: ReadonlyArray<Scope> | undefined
  /** Shows texts only of users whom the account follows, or who are verified. Default false. */
  readonly trustedOnly?: boolean | undefined
  /** A call that may cost more than this, in micro-dollars, needs the user's consent. Default 500,000. */
  readonly askAbove?: number | undefined
  /** The folder for large results. Without one, they are refused. */
  readonly folder?: string | undefined
  /** True to sign with OAuth 1.0a where an operation accepts both that and a bearer token. Default false. */
  readonly userAuth?: boolean | undefined
  /** The id of the account's user, whose own texts are trusted. */
  readonly userId?: string | undefined
  /** The name of the account, for exports. */
  readonly account?: string | undefined
}

/** A file that this session has written. */
export interface Written {
  readonly path: string
  readonly operation: string
  readonly rows: number
  readonly status: string
}

/** The state of a session. */
export class Session extends Context.Service<Session, {
  readonly settings: Settings
  readonly written: Array<Written>
  /** The ids of users by their handles in lower case. */
  readonly userIds: Map<string, string>
  /** True once an answer had texts of strangers: writes after that need the user's consent. */
  hasReadStrangers: boolean
}>()("@postwire/mcp/session/Session") {}

/** A new session. */
export const layer = (settings: Settings): Layer.Layer<Session> =>
  Layer.sync(Session, () => ({
    settings,
    written: [],
    userIds: new Map(),
    hasReadStrangers: false
  }))
