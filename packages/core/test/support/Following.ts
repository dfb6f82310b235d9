/** Follows streams in tests with a test clock. */
import { Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { Definition } from "../../src/schema/Definition.ts"
import type { AnyItem } from "../../src/schema/StreamItem.ts"
import { streamPosts } from "../../src/streams/operations/Streams.ts"
import type { StreamEvent } from "../../src/streams/StreamEvents.ts"
import * as Streaming from "../../src/streams/Streaming.ts"
import type { StreamOptions } from "../../src/streams/StreamOptions.ts"
import { type Connect, settle, type streaming } from "./StreamService.ts"

/** The id of a post. */
export const idOf = (item: AnyItem): string => "post" in item ? (item.post as { readonly id: string }).id : ""

/** Follows a stream with a new client, and collects its events. */
export const follow = (
  service: ReturnType<typeof streaming>,
  options?: StreamOptions,
  definition?: Definition,
  parameters?: object,
  each?: (event: StreamEvent<AnyItem>) => Effect.Effect<void>
) =>
  Effect.flatMap(
    Layer.build(service.layer()),
    (client) => Effect.provide(following(options, definition, parameters, each), client)
  )

/** Follows a stream with the present client, and collects its events. */
export const following = (
  options: StreamOptions = {},
  definition: Definition = streamPosts.definition,
  parameters: object = {},
  each: (event: StreamEvent<AnyItem>) => Effect.Effect<void> = () => Effect.void
) =>
  Effect.gen(function*() {
    const events: Array<StreamEvent<AnyItem>> = []
    const fiber = yield* Streaming.run(definition, parameters, { recover: "none", ...options }).pipe(
      Stream.runForEach((event) =>
        Effect.suspend(() => {
          events.push(event)
          return each(event)
        })
      ),
      Effect.forkScoped
    )
    yield* settle
    const of = <T extends StreamEvent<AnyItem>["_tag"]>(tag: T) =>
      events.filter((event): event is Extract<StreamEvent<AnyItem>, { _tag: T }> => event._tag === tag)
    return {
      fiber,
      events,
      of,
      ids: () => of("Delivered").map(({ item }) => idOf(item)),
      delivered: () =>
        of("Delivered").map(({ item }) => ({ id: idOf(item), tags: item.matchingRules.map(({ tag }) => tag ?? "") }))
    }
  })

/** Advances the clock in steps, and calls `each` after each step. */
export const pass = (millis: number, step = 500, each: () => void = () => {}): Effect.Effect<void> =>
  Effect.gen(function*() {
    for (let passed = 0; passed < millis; passed += step) {
      yield* TestClock.adjust(Math.min(step, millis - passed))
      yield* settle
      each()
      yield* settle
    }
  })

/** Accepts every connection. */
export const accept = (): Connect => "accept"
