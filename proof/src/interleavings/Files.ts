/** Texts in files of the machine of all processes. The system releases the lock of a process that dies, and of no other. */
import * as Texts from "@postwire/core/storage/Texts"
import * as Effect from "effect/Effect"
import type { Place } from "./Schedule.ts"
import type { Process } from "./World.ts"

/** The files. */
export class Files {
  readonly #place: Place
  readonly #texts = new Map<string, string>()
  readonly #locks = new Map<string, Process>()

  constructor(place: Place) {
    this.#place = place
  }

  put(name: string, text: string): void {
    this.#texts.set(name, text)
  }

  /** The texts as a process has them: the contract of `Texts` on these files. */
  texts(actor: Process, kind: "token store" | "journal"): Texts.ListedTexts {
    const { faults, world } = this.#place
    const step = <A>(run: () => A) =>
      Effect.callback<A>((resume) => {
        const fate = faults.at(actor)
        if (!actor.isAlive) {
          // It was killed before or after the step.
          if (fate === "unanswered") run()
          return
        }
        actor.after(world.draw.below(3), () => resume(Effect.sync(run)))
      })
    actor.onKill.push(() => {
      for (const [name, holder] of this.#locks) if (holder === actor) this.#locks.delete(name)
    })
    const texts = Texts.make<Process>({
      kind,
      describe: (name) => name,
      read: (name) => step(() => this.#texts.get(name)),
      write: (name, text) =>
        step(() => void (text === undefined ? this.#texts.delete(name) : this.#texts.set(name, text))),
      acquire: (name) =>
        Effect.acquireRelease(
          step(() => {
            if (this.#locks.has(name) || !actor.isAlive) return undefined
            this.#locks.set(name, actor)
            return actor
          }),
          (held) => Effect.sync(() => held !== undefined && this.#locks.delete(name))
        )
    })
    return { ...texts, names: Effect.sync(() => [...this.#texts.keys()].sort()) }
  }
}
