/** Records created and sent posts for tests that prove that nothing is lost. Recording is off by default. */

/** A post that matches rules. */
export interface Made {
  readonly id: string
  /** Creation time by the clock of the service, in milliseconds. */
  readonly at: number
  /** The ids of the matching rules. */
  readonly rules: ReadonlyArray<string>
}

/** The posts sent on one connection. */
export interface Sent {
  readonly connection: string
  /** In sending order, with repetitions. */
  readonly ids: ReadonlyArray<string>
}

export interface Ledger {
  readonly made: ReadonlyArray<Made>
  readonly sent: ReadonlyArray<Sent>
}

export class Recorder implements Ledger {
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
