/** Follows streams in tests, whose clock is moved. */
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

/** Follows a stream with a client of its own, and keeps what it says. */
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

/** The same with a client that is there. */
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

/** Moves the clock in steps, so that what happens in between is noticed, and does something after each. */
export const pass = (millis: number, step = 500, each: () => void = () => {}): Effect.Effect<void> =>
  Effect.gen(function*() {
    for (let passed = 0; passed < millis; passed += step) {
      yield* TestClock.adjust(Math.min(step, millis - passed))
      yield* settle
      each()
      yield* settle
    }
  })

/** Connects whoever asks. */
export const accept = (): Connect => "accept"
