/** What was made and what was sent, for those who prove that nothing is lost: kept only when somebody asks for it. */

/** A post that rules match. */
export interface Made {
  readonly id: string
  /** When, by the clock of the service, in milliseconds. */
  readonly at: number
  /** The ids of the rules. */
  readonly rules: ReadonlyArray<string>
}

/** What left on one connection. */
export interface Sent {
  readonly connection: string
  /** In the order in which they left, as often as they did. */
  readonly ids: ReadonlyArray<string>
}

/** What is kept. */
export interface Ledger {
  readonly made: ReadonlyArray<Made>
  readonly sent: ReadonlyArray<Sent>
}

/** Keeps it. */
export class Book implements Ledger {
  readonly made: Array<Made> = []
  readonly #sent = new Map<string, Array<string>>()

  get sent(): ReadonlyArray<Sent> {
    return Array.from(this.#sent, ([connection, ids]) => ({ connection, ids }))
  }

  send(connection: string, ids: ReadonlyArray<string>): void {
    const known = this.#sent.get(connection)
    if (known === undefined) this.#sent.set(connection, [...ids])
    else for (const id of ids) known.push(id)
  }
}
