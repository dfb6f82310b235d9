// Type tests of the errors: a failure can be caught where it can happen, and nowhere else.
import * as Errors from "@postwire/core/errors/Errors"
import { keepWebhook, planWebhook } from "@postwire/core/events/KeptWebhook"
import { upload } from "@postwire/core/media/Upload"
import { createPost, getPost } from "@postwire/core/operations/Posts"
import { searchRecentPosts } from "@postwire/core/operations/Search"
import { getUser } from "@postwire/core/operations/Users"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

const nothing = () => Effect.void

getPost({ id: "1" }).pipe(Effect.catchTag("NotFound", nothing))
getPost({ id: "1" }).pipe(Effect.catchTag("RateLimited", ({ resetAt }) => Effect.succeed(resetAt?.getTime())))
// @ts-expect-error only creates have unknown outcomes
getPost({ id: "1" }).pipe(Effect.catchTag("OutcomeUnknown", nothing))
createPost({ text: "a" }).pipe(Effect.catchTag("OutcomeUnknown", nothing))
// @ts-expect-error only operations with alternatives have conflicts
getPost({ id: "1" }).pipe(Effect.catchTag("ConflictingIdentifiers", nothing))
getUser({ id: "1" }).pipe(Effect.catchTag("ConflictingIdentifiers", nothing))
// @ts-expect-error a single page is never stuck
searchRecentPosts({ query: "a" }).pipe(Effect.catchTag("PaginationStuck", nothing))
Stream.runDrain(searchRecentPosts.items({ query: "a" })).pipe(Effect.catchTag("PaginationStuck", nothing))
// @ts-expect-error settings are checked when the client is made
getPost({ id: "1" }).pipe(Effect.catchTag("InvalidSettings", nothing))

const bytes = new Uint8Array()
upload(bytes).pipe(Effect.catchTag("MediaProcessingFailed", ({ reason }) => Effect.succeed(reason?.length)))
// @ts-expect-error all that an upload sends may be sent twice
upload(bytes).pipe(Effect.catchTag("OutcomeUnknown", nothing))
upload.resumable("key", bytes).pipe(Effect.catchTag("StorageFailure", nothing))
// @ts-expect-error it has to know how long it is
upload({ stream: Stream.make(bytes) })
// @ts-expect-error a Stream of an upload cannot go wrong in ways that the upload cannot
Stream.runDrain(upload.events(bytes)).pipe(Effect.catchTag("OutcomeUnknown", nothing))

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
const assertType = <T extends true>(): T | void => undefined
// Known members of a problem have their types, others are unknown.
declare const problem: Errors.Problem
export const detail: string | undefined = problem.detail
export const status: number | undefined = problem.status
assertType<Equal<(typeof problem)["parameters"], unknown>>()

// Causes are optional, facts are not.
export const whole = new Errors.OutcomeUnknown({ operation: "createPost", reason: "reset" })
// @ts-expect-error the reason is missing
export const part = new Errors.OutcomeUnknown({ operation: "createPost" })

// Planning a webhook creates nothing; keeping it fails as its calls do, and when the service refuses it.
const hook = { url: "https://example.com/hook", subscriptions: [] }
assertType<Equal<Effect.Error<ReturnType<typeof planWebhook>>, Errors.OperationError | Errors.PaginationStuck>>()
assertType<
  Equal<
    Effect.Error<ReturnType<typeof keepWebhook>>,
    | Errors.OperationError
    | Errors.PaginationStuck
    | Errors.OutcomeUnknown
    | Errors.WebhookRefused
    | Errors.SubscriptionsRefused
  >
>()
keepWebhook(hook).pipe(
  Effect.catchTag("SubscriptionsRefused", ({ subscriptions: [first] }) => Effect.succeed(first?.scope))
)
// @ts-expect-error a plan is not refused
planWebhook(hook).pipe(Effect.catchTag("WebhookRefused", nothing))
