import { Client, type Errors, Timelines, Users } from "@postwire/core"
import { Clock, Context, Duration, Effect, Layer, Schedule, Stream } from "effect"

/** The recent posts of an account, for a newsletter. */
export class Digest extends Context.Service<Digest, {
  /** The posts of the last day, newest first; `undefined` when there is no such account. */
  readonly of: (username: string) => Effect.Effect<ReadonlyArray<string> | undefined, DigestUnavailable>
}>()("examples/Digest") {
  static readonly layer = Layer.effect(
    Digest,
    Effect.gen(function*() {
      const client = yield* Client.Client

      const of = Effect.fn("Digest.of")(function*(username: string) {
        const { data: user } = yield* Users.getUser({ username }).pipe(
          // An invalid name has no user.
          Effect.catchTag("InvalidParameters", () => Effect.succeed({ data: undefined }))
        )
        if (user === undefined) return undefined
        const yesterday = (yield* Clock.currentTimeMillis) - Duration.toMillis("1 day")
        return yield* Timelines.getUsersPosts.items({ id: user.id, start_time: new Date(yesterday) }).pipe(
          Stream.map(({ text }) => text),
          Stream.runCollect
        )
      })

      return {
        of: (username) =>
          of(username).pipe(
            // Temporary failures are retried here; others go to the caller.
            Effect.retry({
              schedule: Schedule.spaced("1 minute"),
              times: 20,
              while: (error) => error._tag === "RateLimited"
            }),
            Effect.mapError((cause) => new DigestUnavailable(cause)),
            Effect.provideService(Client.Client, client)
          )
      }
    })
  )
}

/** There is no digest now. */
export class DigestUnavailable extends Error {
  readonly _tag = "DigestUnavailable"
  constructor(cause: Errors.AnyError) {
    super(`No digest: ${cause.message}`, { cause })
  }
}
