/** Identification of an app in sign-in requests, authenticated if it has a secret. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Credentials from "../../auth/Credentials.ts"
import { InvalidSettings } from "../../errors/Errors.ts"
import type * as Account from "../Account.ts"
import * as TokenRequest from "./tokenRequest.ts"

/** Checks an app from untyped input. */
export const check = (app: Account.App): Effect.Effect<Account.App, InvalidSettings> => {
  const { clientId, clientSecret } = app
  if (typeof clientId !== "string" || !/^[\x21-\x7e]+$/.test(clientId)) {
    return invalid("clientId", "must be the id of an app: one line of printable ASCII")
  }
  if (clientSecret === undefined) return Effect.succeed(app)
  return Redacted.isRedacted(clientSecret) && Credentials.fault("consumerSecret", clientSecret) === undefined
    ? Effect.succeed(app)
    : invalid("clientSecret", "must be redacted text in well-formed Unicode, and not empty; a public app has none")
}

/** The two OAuth 1.0a secrets of an app. */
export type Consumer = Readonly<Record<"consumerKey" | "consumerSecret", Redacted.Redacted>>

/** Checks that both secrets are present. */
export const checkConsumer = (
  settings: Pick<Credentials.Settings, "consumerKey" | "consumerSecret">
): Effect.Effect<Consumer, InvalidSettings> =>
  Effect.flatMap(Credentials.check(settings), ({ consumerKey, consumerSecret }) => {
    if (consumerKey !== undefined && consumerSecret !== undefined) {
      return Effect.succeed({ consumerKey, consumerSecret })
    }
    const setting = consumerKey === undefined ? "consumerKey" : "consumerSecret"
    return invalid(setting, "is missing: copy the app's from the service's console")
  })

const invalid = (setting: string, rule: string): Effect.Effect<never, InvalidSettings> =>
  Effect.fail(new InvalidSettings({ setting, rule }))

/** The parts of a request that identify the app. */
export interface Identified extends Pick<TokenRequest.Request<unknown>, "authorization" | "credential" | "secrets"> {
  readonly form: TokenRequest.Form
}

/** Identifies a public app by its id, a confidential one by a header. */
export const identify = (app: Account.App): Effect.Effect<Identified, InvalidSettings> =>
  Effect.map(check(app), ({ clientId, clientSecret }) =>
    clientSecret === undefined
      ? { credential: "app", form: { client_id: clientId }, secrets: [] }
      : { ...basic(clientId, clientSecret), form: {} })

/** Basic authentication with id and secret, each form-encoded (RFC 6749, 2.3.1). */
const basic = (id: string, secret: Redacted.Redacted): Omit<Identified, "form"> => {
  const encoded = (text: string) => TokenRequest.encode({ "": text }).slice(1)
  const encodedSecret = Redacted.make(encoded(Redacted.value(secret)))
  const credentials = Redacted.make(btoa(`${encoded(id)}:${Redacted.value(encodedSecret)}`))
  return {
    credential: "app",
    authorization: () => `Basic ${Redacted.value(credentials)}`,
    secrets: [secret, encodedSecret, credentials]
  }
}

/** Basic authentication with OAuth 1.0a secrets; the key is a secret too. */
export const ofConsumer = ({ consumerKey, consumerSecret }: Consumer): Omit<Identified, "form"> => {
  const identified = basic(Redacted.value(consumerKey), consumerSecret)
  return { ...identified, secrets: [consumerKey, ...identified.secrets] }
}
