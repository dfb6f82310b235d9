/**
 * The Effects of the methods that make many calls, and of streams. Their code is a fifth of a client's, and the first of them loads
 * it: bundlers make a file of its own of it.
 */
import * as Effect from "effect/Effect"
import type * as Source from "../media/Source.ts"
import type { Provided } from "./Calls.ts"
import type { Opening, Streams } from "./internal/workflows.ts"
import { mapInputs, methods, type Name, type StreamName } from "./Methods.ts"

export type { Next, Opening } from "./internal/workflows.ts"

/** Converts a file of a platform to one of the core. Values of another type stay, for the core to reject. */
export type InputOf<I> = (input: I) => Source.Input

/** The Effects by the paths of their methods, for arguments that the types of a client have checked. */
export type ByPath =
  & Readonly<
    Record<Exclude<Name, StreamName>, (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown, Error, Provided>>
  >
  & Readonly<Record<StreamName, (...args: ReadonlyArray<unknown>) => Opening<unknown>>>

const load = Effect.promise(() => import("./internal/workflows.ts"))

const openings = { openConsumer: true, openLive: true, openLiveEvents: true, openShared: true } satisfies Record<
  keyof Streams,
  true
>

/** The Effects on a platform. */
export function on<I>(inputOf: InputOf<I>): ByPath & Streams
// The table of methods has their types.
export function on(inputOf: (input: unknown) => unknown): object {
  const run = (name: Name | keyof Streams, args: ReadonlyArray<unknown>) =>
    Effect.flatMap(load, ({ run }) => run(name, args))
  const byPath = Object.keys(methods).map((name) => [
    name,
    (...args: ReadonlyArray<unknown>) => run(name as Name, mapInputs(name as Name, args, inputOf))
  ])
  const opening = Object.keys(openings).map((name) => [
    name,
    (...args: ReadonlyArray<unknown>) => run(name as keyof Streams, args)
  ])
  return Object.fromEntries([...byPath, ...opening])
}
