/** A loop over an endless stream. One fiber reads it, in batches of the items that arrive together. */
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Calls from "../Calls.ts"
import type { CallDescription } from "../Methods.ts"
import type { Opening } from "../Workflows.ts"

/**
 * An iterator instead of a generator: a waiting generator cannot be ended, and a stream may be silent for hours. Further items of a
 * batch cost a promise and no fiber.
 */
export class Loop<A, B, O extends Calls.Signalled<object>> implements AsyncIterableIterator<B> {
  readonly #context: Calls.Context
  readonly #description: CallDescription
  readonly #options: O | undefined
  readonly #open: (options: Omit<O, "signal"> | undefined) => Opening<A>
  readonly #itemOf: (one: A) => B
  readonly #left = new AbortController()
  #given: AbortSignal | undefined
  #running: Promise<Exit.Exit<void, Error>> | undefined
  #isOver = false
  #batch: ReadonlyArray<A> = []
  #at = 0
  /** Resumes the fiber, which then reads the next batch. */
  #resume: (effect: Effect.Effect<void>) => void = () => {}
  /** Called when there is a batch, or the stream has ended. */
  #notify = () => {}
  /** The number of pending `next` calls, and the last of them. */
  #waiting = 0
  #last: Promise<unknown> | undefined

  constructor(
    context: Calls.Context,
    description: CallDescription,
    options: O | undefined,
    open: (options: Omit<O, "signal"> | undefined) => Opening<A>,
    itemOf: (one: A) => B
  ) {
    this.#context = context
    this.#description = description
    this.#options = options
    this.#open = open
    this.#itemOf = itemOf
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<B>> {
    if (this.#waiting === 0 && !this.#isEnded) {
      const taken = this.#take()
      if (taken !== undefined) return Promise.resolve(taken)
    }
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

  /** Takes the next item of the batch. */
  #take(): IteratorResult<B> | undefined {
    const one = this.#batch[this.#at]
    if (one === undefined) return undefined
    if (++this.#at === this.#batch.length) this.#batch = []
    return { done: false, value: this.#itemOf(one) }
  }

  async #more(before: Promise<unknown> | undefined): Promise<IteratorResult<B>> {
    this.#waiting++
    try {
      await before?.catch(() => {})
      while (!this.#left.signal.aborted && !this.#isEnded) {
        const taken = this.#take()
        if (taken !== undefined) return taken
        const notified = new Promise<void>((resolve) => this.#notify = resolve)
        if (this.#running === undefined) this.#running = this.#run()
        else this.#resume(Effect.void)
        await notified
      }
      if (this.#left.signal.aborted) return { done: true, value: undefined }
      // An error is thrown only once.
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
      const [given, rest] = Calls.split(this.#description, this.#options)
      this.#given = given
      const { signal } = this.#left
      const ending = given === undefined ? signal : AbortSignal.any([given, signal])
      return await Calls.run(this.#context, this.#description, this.#follow(rest), ending)
    } finally {
      this.#isOver = true
      this.#notify()
    }
  }

  #follow(options: Omit<O, "signal"> | undefined): Effect.Effect<void, Error, Calls.Provided> {
    // Neither a closure nor the generator holds a batch: it would live on while the next one is decoded.
    const keep = (some: ReadonlyArray<A> | undefined) => {
      this.#batch = some ?? []
      this.#at = 0
      return some !== undefined
    }
    const given = Effect.callback<void>((resume) => {
      this.#resume = resume
      this.#notify()
    })
    const opened = this.#open(options)
    return Effect.scoped(Effect.gen(function*() {
      const next = Effect.map(yield* opened, keep)
      while (yield* next) yield* given
    }))
  }
}
