/**
 * The Effects of the methods that make many calls, and of streams. Most programs need none of them, so the first such call loads
 * them: a bundler makes a file of its own of them (ADR 18).
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Source from "../media/Source.ts"
import type { Definition } from "../schema/Definition.ts"
import type { AnyItem } from "../schema/StreamItem.ts"
import type * as SharedStream from "../streams/shared/SharedStream.ts"
import type { StreamEvent } from "../streams/StreamEvents.ts"
import type { StreamOptions } from "../streams/StreamOptions.ts"
import type { Provided } from "./Calls.ts"
import type { Name, StreamName } from "./Methods.ts"

/** Converts a file of a platform to one of the core. Values of another type stay, for the core to reject. */
export type InputOf<I> = (input: I) => Source.Input

/** Reads the next items of an opened stream; `undefined` at its end. */
export type Next<A, E> = Effect.Effect<ReadonlyArray<A> | undefined, E, Provided>

/** Opens a stream. */
export type Opening<A> = Effect.Effect<Next<A, Error>, Error, Scope.Scope | Provided>

const load = /*#__PURE__*/ Effect.promise(() => import("./internal/workflows.ts"))

/** Opens a stream: its items. */
export const openLive = (definition: Definition, parameters: unknown, options?: StreamOptions): Opening<AnyItem> =>
  Effect.flatMap(load, (effects) => effects.openLive(definition, parameters, options))

/** Opens a stream: its events. */
export const openLiveEvents = (
  definition: Definition,
  parameters: unknown,
  options?: StreamOptions
): Opening<StreamEvent<AnyItem>> =>
  Effect.flatMap(load, (effects) => effects.openLiveEvents(definition, parameters, options))

/** Joins a stream that processes share. */
export const openShared = (
  name: string,
  definition: Definition,
  parameters: object,
  options?: SharedStream.SharedOptions
) => Effect.flatMap(load, (effects) => effects.openShared(name, definition, parameters, options))

/** Opens the items of a shared stream. */
export const openConsumer = <Item, E extends Error>(
  shared: SharedStream.SharedStream<Item, E>,
  options: SharedStream.ConsumeOptions
): Opening<SharedStream.SharedItem<Item>> => Effect.flatMap(load, (effects) => effects.openConsumer(shared, options))

/** The Effect of a method on a platform, for arguments that the types of a client have checked. */
export function effectOf<I>(
  name: Exclude<Name, StreamName>,
  inputOf: InputOf<I>,
  args: ReadonlyArray<unknown>
): Effect.Effect<unknown, Error, Provided>
export function effectOf<I>(name: StreamName, inputOf: InputOf<I>, args: ReadonlyArray<unknown>): Opening<unknown>
export function effectOf<I>(
  name: Name,
  inputOf: InputOf<I>,
  args: ReadonlyArray<unknown>
): Effect.Effect<unknown, Error, Scope.Scope | Provided> {
  return Effect.flatMap(load, (effects) => effects.effectOf(name, inputOf, args))
}
