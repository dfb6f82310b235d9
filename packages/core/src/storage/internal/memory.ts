/** Texts by name in memory, with a lock each: a token store or a journal for one process. */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

/** Takes the initial texts. */
export const make = (texts: Readonly<Record<string, string>> = {}) => {
  const held = new Map(Object.entries(texts))
  const locks = new Map<string, Semaphore.Semaphore>()
  const lockOf = (name: string): Semaphore.Semaphore => {
    let lock = locks.get(name)
    if (lock === undefined) locks.set(name, lock = Semaphore.makeUnsafe(1))
    return lock
  }
  return {
    read: (name: string) => Effect.sync(() => held.get(name)),
    write: (name: string, text: string | undefined) =>
      Effect.sync(() => void (text === undefined ? held.delete(name) : held.set(name, text))),
    lock: (name: string) => Effect.asVoid(Effect.suspend(() => Semaphore.takeScoped(lockOf(name), 1))),
    names: Effect.sync(() => [...held.keys()].sort()),
    describe: () => "in memory"
  }
}
