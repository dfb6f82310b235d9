/**
 * Errors of calls with an account, re-exported by `Errors`. They are a module of their own because a program without accounts
 * does not need them.
 */
import * as Data from "effect/Data"
import { brand } from "../internal/errorBrand.ts"
import type { Scope } from "../schema/Scopes.ts"
import { saidOf } from "./internal/messages.ts"

/** The account's access token was granted without a scope that the operation needs. Raised before anything is sent. */
export class MissingScope extends Data.TaggedError("MissingScope")<{
  readonly operation: string
  /** The name of the account; empty if the program stores the tokens itself. */
  readonly account: string
  /** The scopes that the operation needs and the user did not grant. */
  readonly missing: ReadonlyArray<Scope>
  /** The scopes that the user granted. */
  readonly granted: ReadonlyArray<Scope>
}> {
  override get message(): string {
    const scopes = this.missing.join(", ")
    const who = this.account === "" ? "the user" : `the user of account ${JSON.stringify(this.account)}`
    return `${this.operation}: ${who} has not granted ${scopes}. ${this.advice}`
  }
  get advice(): string {
    return this.account === ""
      ? "Sign in again and request it."
      : `Sign in again: postwire login ${this.account} --for ${this.operation}`
  }
}

/** Why an account has to sign in again. */
export type LoginReason =
  /** The store has no account of that name. */
  | "absent"
  /**
   * The service refuses the refresh token: the user revoked it, or signed in to the same app again, on any machine, which ends
   * every earlier login, or it was used elsewhere.
   */
  | "refused"
  /** The response to a renewal was lost, and the service now refuses the refresh token. */
  | "lost"
  /** The access token has expired or was refused, and there is no refresh token: `offline.access` was not granted. */
  | "not renewable"

const loginReasons: Readonly<Record<LoginReason, string>> = {
  absent: "has never signed in here",
  refused:
    "has to sign in again: the service refuses its refresh token. The user signed in to the same app again, here or on another " +
    "machine, which ends every earlier login, or revoked it, or another program used it",
  lost: "has to sign in again: the response to a renewal was lost, and the service refuses the old refresh token",
  "not renewable":
    "has to sign in again: its access token has expired, and there is no refresh token (grant offline.access)"
}

/** An account has no usable or renewable credential left: its user has to sign in. */
export class LoginRequired extends Data.TaggedError("LoginRequired")<{
  /** The name of the account; empty if the program stores the tokens itself. */
  readonly account: string
  readonly reason: LoginReason
  /** The detail that the service gave. */
  readonly detail?: string | undefined
}> {
  override get message(): string {
    const who = this.account === "" ? "The user" : `Account ${JSON.stringify(this.account)}`
    return `${who} ${loginReasons[this.reason]}${saidOf(this)}.${this.advice === undefined ? "" : ` ${this.advice}`}`
  }
  get advice(): string | undefined {
    return this.account === "" ? undefined : `Run: postwire login ${this.account}`
  }
}

brand([MissingScope, LoginRequired])
