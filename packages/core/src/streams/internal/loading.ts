/** Runs streams with code that the first of them loads: clients have all operations, and few programs stream (ADR 18). */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Client } from "../../client/Client.ts"
import type { Definition } from "../../schema/Definition.ts"
import type { AnyItem } from "../../schema/StreamItem.ts"
import type { StreamEvent } from "../StreamEvents.ts"
import type { StreamOptions } from "../StreamOptions.ts"
import type * as StreamRunner from "../StreamRunner.ts"
import type { AnyStreamError } from "./buffer.ts"

let runner: typeof StreamRunner | undefined

const loaded = /*#__PURE__*/ Effect.suspend(() =>
  runner === undefined
    ? Effect.promise(async () => runner = await import("../StreamRunner.ts"))
    : Effect.succeed(runner)
)

/** Loads what runs streams. A test whose clock stands still runs this first: loading takes real time. */
export const load: Effect.Effect<void> = /*#__PURE__*/ Effect.asVoid(loaded)

/** All events of a stream, in order. The stream runs until it fails permanently or is interrupted. */
export const run = (
  definition: Definition,
  parameters: unknown,
  options?: StreamOptions
): Stream.Stream<StreamEvent<AnyItem>, AnyStreamError, Client> =>
  Stream.unwrap(Effect.map(loaded, ({ run }) => run(definition, parameters, options)))

/** The items of a stream. */
export const items = (
  definition: Definition,
  parameters: unknown,
  options?: StreamOptions
): Stream.Stream<AnyItem, AnyStreamError, Client> =>
  Stream.unwrap(Effect.map(loaded, ({ items }) => items(definition, parameters, options)))
