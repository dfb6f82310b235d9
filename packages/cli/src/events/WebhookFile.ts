/** Reads a desired webhook from a JSON file. The core checks the subscriptions. */
import type { WantedWebhook } from "@postwire/core/events/KeptWebhook"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Text from "../terminal/Text.ts"
import * as TextFile from "../terminal/TextFile.ts"

/** Members that the service sets, and that `list --json` prints. */
const ofService = ["id", "valid", "created_at"]
const ofSubscription = ["subscription_id", "webhook_id", "created_at", "updated_at"]

const nameOf = (file: string): string => file === TextFile.standardInput ? "standard input" : Text.oneLine(file)

export const read = Effect.fnUntraced(function*(file: string) {
  const text = yield* TextFile.read(file, "a JSON file of a webhook")
  const fail = (reason: string) =>
    ErrorReport.refuse(
      `${nameOf(file)} ${reason}`,
      "It has url and subscriptions: postwire help webhooks. Change it, then run the same command again."
    )
  const json = yield* Effect.try({
    try: (): unknown => JSON.parse(text.replace(/^\ufeff/, "")),
    catch: String
  }).pipe(Effect.catch((reason) => fail(`is not JSON: ${reason.replace(/^SyntaxError: /, "")}.`)))
  if (!Predicate.isObject(json) || Array.isArray(json)) return yield* fail("must be an object.")
  const { subscriptions, url, ...others } = json
  const stranger = Object.keys(others).find((name) => !ofService.includes(name))
  if (stranger !== undefined) {
    return yield* fail(`has a member that is not part of a webhook: ${Text.oneLine(stranger)}.`)
  }
  // oxlint-disable-next-line postwire/no-blind-assertion -- The core checks every member, and reports which one is wrong.
  return {
    url,
    subscriptions: Array.isArray(subscriptions) ? subscriptions.map(written) : subscriptions
  } as unknown as WantedWebhook
})

/** A subscription without what the service sets. */
const written = (subscription: unknown): unknown =>
  Predicate.isObject(subscription) && !Array.isArray(subscription)
    ? Object.fromEntries(Object.entries(subscription).filter(([name]) => !ofSubscription.includes(name)))
    : subscription

/** Reports invalid members by their place in the file. */
export const inFile = (file: string) =>
  ErrorReport.inFlags((parameter) =>
    /^desired\b/.test(parameter)
      ? { name: `${nameOf(file)}: ${parameter.replace(/^desired\.?/, "") || "it"}`, isFile: true }
      : undefined
  )
