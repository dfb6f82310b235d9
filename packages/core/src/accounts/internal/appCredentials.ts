/** How an app says which one it is when it signs users in, and proves it where it has a secret. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Credentials from "../../auth/Credentials.ts"
import { InvalidSettings } from "../../errors/Errors.ts"
import type * as Account from "../Account.ts"
import * as TokenRequest from "./tokenRequest.ts"

/** Checks an app, which may come from anywhere. */
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

/** The two secrets that an app has with OAuth 1.0a. */
export type Consumer = Readonly<Record<"consumerKey" | "consumerSecret", Redacted.Redacted>>

/** Both are needed. */
export const checkConsumer = (
  settings: Pick<Credentials.Settings, "consumerKey" | "consumerSecret">
): Effect.Effect<Consumer, InvalidSettings> =>
  Effect.flatMap(Credentials.check(settings), ({ consumerKey, consumerSecret }) => {
    if (consumerKey !== undefined && consumerSecret !== undefined) {
      return Effect.succeed({ consumerKey, consumerSecret })
    }
    const setting = consumerKey === undefined ? "consumerKey" : "consumerSecret"
    return invalid(setting, "is missing: it is that of the app, from the console of the service")
  })

const invalid = (setting: string, rule: string): Effect.Effect<never, InvalidSettings> =>
  Effect.fail(new InvalidSettings({ setting, rule }))

/** How a request says which app it is of. */
export interface Identified extends Pick<TokenRequest.Request<unknown>, "authorization" | "credential" | "secrets"> {
  readonly form: TokenRequest.Form
}

/** A public app is known by its id, a confidential one by a header. */
export const identify = (app: Account.App): Effect.Effect<Identified, InvalidSettings> =>
  Effect.map(check(app), ({ clientId, clientSecret }) =>
    clientSecret === undefined
      ? { credential: "app", form: { client_id: clientId }, secrets: [] }
      : { ...basic(clientId, clientSecret), form: {} })

/** Id and secret in a header, each encoded as in a form (RFC 6749, 2.3.1). */
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

/** The same of a key, which is a secret as well. */
export const ofConsumer = ({ consumerKey, consumerSecret }: Consumer): Omit<Identified, "form"> => {
  const identified = basic(Redacted.value(consumerKey), consumerSecret)
  return { ...identified, secrets: [consumerKey, ...identified.secrets] }
}
