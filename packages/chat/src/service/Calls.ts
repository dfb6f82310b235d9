/** The calls of a chat: by the `Client` of Effect, or by the methods of a Promise client on any platform. */
import { Client } from "@postwire/core/client/Client"
import type { AnyError, StreamError } from "@postwire/core/errors/Errors"
import type { ActivityEvent } from "@postwire/core/schema/models/Activity"
import { streamActivity } from "@postwire/core/streams/operations/ActivityStreams"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"

/** Everything that the app has subscribed to. */
export const Activity = Context.Reference<Stream.Stream<ActivityEvent, AnyError | StreamError, Client>>(
  "@postwire/chat/service/Calls/Activity",
  { defaultValue: () => Stream.map(streamActivity(), ({ event }) => event) }
)

/** A client whose calls have this `user_auth`. */
export const withUserAuth = (client: Client["Service"], user_auth: boolean): Client["Service"] => ({
  ...client,
  request: (definition, parameters, options) =>
    client.request(
      definition,
      definition.userAuth === undefined ? parameters : { ...Object(parameters), user_auth },
      options
    )
})

/** The methods of a Promise client, which have the names of operations. */
export interface Methods {
  readonly streamActivity: () => AsyncIterable<{ readonly event: ActivityEvent }>
}

/** The services of a chat by the methods of a Promise client. */
export const ofMethods = (methods: Methods): Context.Context<Client> => {
  const client = {
    request: ({ name }: { readonly name: string }, parameters: unknown) =>
      Effect.tryPromise({
        try: async (signal) => Reflect.apply(Reflect.get(methods, name), methods, [parameters, { signal }]),
        // A method rejects with the errors of its operation.
        catch: (error) => error as AnyError
      }),
    // A method has read its response, and redacted its errors.
    read: (_: unknown, response: unknown) => Effect.succeed(response),
    redact: Effect.succeed((text: string) => text)
  }
  const activity = Stream.suspend(() =>
    Stream.fromAsyncIterable(methods.streamActivity(), (error) => error as AnyError)
  )
  // oxlint-disable-next-line postwire/no-blind-assertion -- Operations use nothing else of a client.
  return Context.make(Client, client as never).pipe(
    Context.add(Activity, Stream.map(activity, ({ event }) => event))
  )
}

/**
 * Runs a create, and repeats it once if its outcome is unknown and `happened` shows that it did not take effect. Only for creates
 * that send the same signed bytes again. The outcome stays unknown if the check fails.
 */
export const confirmed = <A, E, R>(
  create: Effect.Effect<A, E, R>,
  happened: Effect.Effect<boolean, unknown, R>
): Effect.Effect<void, E, R> =>
  Effect.asVoid(create).pipe(
    Effect.catchIf(Predicate.isTagged("OutcomeUnknown"), (lost) => {
      const unless = (otherwise: Effect.Effect<void, E, R>) =>
        Effect.flatMap(Effect.mapError(happened, (): E => lost), (yes) => yes ? Effect.void : otherwise)
      // The first may take effect after the check, so that the second is refused.
      return unless(Effect.catch(Effect.asVoid(create), (error) => unless(Effect.fail(error))))
    })
  )
