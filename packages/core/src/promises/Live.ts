/** Streams of the service as async iterables. A loop has one fiber, which gives what comes at once as one batch. */
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import type { Definition, Form } from "../Definition.ts"
import { InvalidParameters } from "../Errors.ts"
import type { LiveEvent } from "../LiveEvents.ts"
import type { AnyItem, FormOf } from "../LiveItem.ts"
import type * as Live from "../LiveOptions.ts"
import type { Arguments, SelectionOf } from "../Operation.ts"
import * as Prepare from "../Prepare.ts"
import type { Selection } from "../Selection.ts"
import * as Calls from "./Calls.ts"
import * as Publications from "./Publications.ts"

/** What a stream takes besides its parameters. */
export interface LiveOptions extends Live.LiveOptions {
  /** Ends the stream at once; the loop is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/**
 * An operation that answers until somebody ends it, as a method. It connects when a loop begins, stays connected, and ends with
 * the loop, its signal or the client. In forms other than `response`, an item is its line as a plain dictionary.
 */
export interface PromiseLive<in out P, out R, Sel extends keyof Selection, F extends Form = "response"> {
  <const S extends SelectionOf<P, R, Sel>>(
    ...args: Arguments<P, R, Sel, S, LiveOptions>
  ): AsyncIterable<FormOf<F, R, S>>
  /** Everything that happens, in its order: what it brings (`Delivered`), connections, gaps and what fills them. */
  readonly events: <const S extends SelectionOf<P, R, Sel>>(
    ...args: Arguments<P, R, Sel, S, LiveOptions>
  ) => AsyncIterable<LiveEvent<FormOf<F, R, S>>>
}

/** An operation on a client. */
export const method = (context: Calls.Context, definition: Definition, form: Form) => {
  const { openLive, openLiveEvents } = Publications.on((input: never) => input)
  const itemOf = (item: AnyItem): unknown => form === "response" ? item : item.body
  const eventOf = (event: LiveEvent<AnyItem>): LiveEvent<unknown> =>
    event._tag === "Delivered" ? { ...event, item: itemOf(event.item) } : event
  return Object.assign(iterable(context, definition, openLive, itemOf), {
    events: iterable(context, definition, openLiveEvents, eventOf)
  })
}

type Opened<A> = Effect.Effect<Publications.Next<A, Error>, Error, Scope.Scope | Calls.Provided>

const iterable = <A, B>(
  context: Calls.Context,
  definition: Definition,
  open: (definition: Definition, parameters: object, options?: Live.LiveOptions) => Opened<A>,
  f: (one: A) => B
) =>
(parameters: object = {}, options?: LiveOptions): AsyncIterable<B> => {
  // The caller may change the objects before the next loop.
  const own = Prepare.own(definition, parameters)
  const chosen = Predicate.isObject(options) ? { ...options } : options
  const opened = (rest: Live.LiveOptions | undefined): Opened<A> =>
    own instanceof InvalidParameters ? Effect.fail(own) : open(definition, own, rest)
  return { [Symbol.asyncIterator]: () => new Loop(context, definition, chosen, opened, f) }
}

/**
 * No generator: while one waits it cannot be ended, and a stream may be silent for hours. What came with another item costs a
 * promise and no fiber.
 */
class Loop<A, B> implements AsyncIterableIterator<B> {
  readonly #context: Calls.Context
  readonly #definition: Definition
  readonly #options: LiveOptions | undefined
  readonly #open: (options: Live.LiveOptions | undefined) => Opened<A>
  readonly #itemOf: (one: A) => B
  readonly #left = new AbortController()
  #given: AbortSignal | undefined
  #running: Promise<Exit.Exit<void, Error>> | undefined
  #isOver = false
  #batch: ReadonlyArray<A> = []
  #at = 0
  /** Lets the stream go on. */
  #goOn = () => {}
  /** Tells that there is a batch, or none to come. */
  #tell = () => {}
  /** How many wait for what comes next, and the last of them. */
  #waiting = 0
  #last: Promise<unknown> | undefined

  constructor(
    context: Calls.Context,
    definition: Definition,
    options: LiveOptions | undefined,
    open: (options: Live.LiveOptions | undefined) => Opened<A>,
    itemOf: (one: A) => B
  ) {
    this.#context = context
    this.#definition = definition
    this.#options = options
    this.#open = open
    this.#itemOf = itemOf
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<B>> {
    if (this.#waiting === 0 && this.#at < this.#batch.length && !this.#isEnded) return Promise.resolve(this.#take())
    return this.#last = this.#more(this.#waiting === 0 ? undefined : this.#last)
  }

  async return(): Promise<IteratorResult<B>> {
    this.#left.abort()
    this.#batch = []
    await this.#running
    return { done: true, value: undefined }
  }

  get #isEnded(): boolean {
    return this.#isOver || this.#given?.aborted === true || this.#context.closing.aborted
  }

  #take(): IteratorResult<B> {
    return { done: false, value: this.#itemOf(this.#batch[this.#at++]!) }
  }

  async #more(before: Promise<unknown> | undefined): Promise<IteratorResult<B>> {
    this.#waiting++
    try {
      await before?.catch(() => {})
      while (!this.#left.signal.aborted && !this.#isEnded) {
        if (this.#at < this.#batch.length) return this.#take()
        const told = new Promise<void>((resolve) => this.#tell = resolve)
        if (this.#running === undefined) this.#running = this.#run()
        else this.#goOn()
        await told
      }
      if (this.#left.signal.aborted) return { done: true, value: undefined }
      // What is thrown is thrown once.
      this.#left.abort()
      this.#batch = []
      Calls.valueOf(await (this.#running ?? this.#run()), this.#given, this.#more)
      return { done: true, value: undefined }
    } finally {
      this.#waiting--
    }
  }

  async #run(): Promise<Exit.Exit<void, Error>> {
    try {
      const [given, rest] = Calls.split(this.#definition, this.#options)
      this.#given = given
      const { signal } = this.#left
      const ending = given === undefined ? signal : AbortSignal.any([given, signal])
      return await Calls.run(this.#context, this.#definition, this.#follow(rest), ending)
    } finally {
      this.#isOver = true
      this.#tell()
    }
  }

  #follow(options: Live.LiveOptions | undefined): Effect.Effect<void, Error, Calls.Provided> {
    const give = (some: ReadonlyArray<A>) =>
      Effect.callback<void>((resume) => {
        this.#batch = some
        this.#at = 0
        this.#goOn = () => resume(Effect.void)
        this.#tell()
      })
    const opened = this.#open(options)
    return Effect.scoped(Effect.gen(function*() {
      const next = yield* opened
      while (true) {
        const some = yield* next
        if (some === undefined) return
        yield* give(some)
      }
    }))
  }
}
