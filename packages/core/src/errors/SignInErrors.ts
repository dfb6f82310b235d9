/** Errors of the end of a sign-in, re-exported by `Errors`. They are separate from the errors that every call needs. */
import * as Data from "effect/Data"
import { brand } from "../internal/errorBrand.ts"

/** The user, or the service, denied a sign-in. */
export class AuthorizationDenied extends Data.TaggedError("AuthorizationDenied")<{
  /** The OAuth error code, such as `access_denied`. */
  readonly error: string
  /** The detail that the service gave. */
  readonly detail?: string | undefined
}> {
  override get message(): string {
    const said = this.detail === undefined ? "" : `: ${this.detail.replace(/\.$/, "")}`
    return this.error === "access_denied"
      ? `The sign-in was denied${said}. ${this.advice}`
      : `The service refused the sign-in (${this.error})${said}.`
  }
  get advice(): string | undefined {
    return this.error === "access_denied" ? "Nothing was changed; start again to be prompted again." : undefined
  }
}

const redirectFaults: Readonly<Record<InvalidRedirect["fault"], readonly [fault: string, advice: string]>> = {
  address: ["This is not a URL.", "Use the whole URL that the browser shows at the end of the sign-in."],
  other: ["This URL belongs to another sign-in.", "Use the one that this sign-in ended at, or start again."],
  incomplete: [
    "This URL does not contain the result of the sign-in.",
    "Use the whole one that the browser shows at its end."
  ]
}

/** The URL is not the redirect URL of this sign-in. It is not shown, because it may contain an authorization code. */
export class InvalidRedirect extends Data.TaggedError("InvalidRedirect")<{
  /**
   * `address`: it is not a URL. `other`: it has the state or the token of another sign-in, or none. `incomplete`: it does not
   * contain the user's decision.
   */
  readonly fault: "address" | "other" | "incomplete"
}> {
  override get message(): string {
    return redirectFaults[this.fault].join(" ")
  }
  get advice(): string {
    return redirectFaults[this.fault][1]
  }
}

brand([AuthorizationDenied, InvalidRedirect])
