/** What reading the end of a sign-in can fail with; programs find it in `Errors`. Apart from those, which every call brings along. */
import * as Data from "effect/Data"
import { brand } from "../internal/errorBrand.ts"

/** The user, or the service for them, said no to a sign-in. */
export class AuthorizationDenied extends Data.TaggedError("AuthorizationDenied")<{
  /** The code of OAuth, such as `access_denied`. */
  readonly error: string
  /** What the service said of it. */
  readonly detail?: string | undefined
}> {
  override get message(): string {
    const said = this.detail === undefined ? "" : `: ${this.detail.replace(/\.$/, "")}`
    return this.error === "access_denied"
      ? `The sign-in was denied${said}. Nothing was changed; start again to be asked again.`
      : `The service refused the sign-in (${this.error})${said}.`
  }
}

const redirectFaults: Readonly<Record<InvalidRedirect["fault"], string>> = {
  address: "This is no address. Use the whole address that the browser shows at the end of the sign-in",
  other: "This address belongs to another sign-in. Use the one that this sign-in ended at, or start again",
  incomplete: "This address does not say how the sign-in ended. Use the whole one that the browser shows at its end"
}

/** An address is not the one that a sign-in ended at. It is not shown, because it may hold a code. */
export class InvalidRedirect extends Data.TaggedError("InvalidRedirect")<{
  /**
   * `address`: it is none. `other`: it has the state or the token of another sign-in, or none. `incomplete`: nothing in it
   * says whether the user agreed.
   */
  readonly fault: "address" | "other" | "incomplete"
}> {
  override get message(): string {
    return `${redirectFaults[this.fault]}.`
  }
}

brand([AuthorizationDenied, InvalidRedirect])
