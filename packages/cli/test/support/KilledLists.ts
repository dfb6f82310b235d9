/** Changes of lists that are killed over and over, on a service where much goes wrong. All of it is drawn from a seed. */
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Redacted } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { bundled } from "../../../core/test/support/ProgramFile.ts"
import { make as random } from "../../../sandbox/src/text/random.ts"

/** What a process is told. */
export interface Told {
  readonly baseUrl: string
  readonly bearerToken: string
  /** Of the journal. */
  readonly folder: string
  readonly list: string
  readonly desired: ReadonlyArray<string>
}

/** What came of a list. */
export interface Outcome {
  readonly members: ReadonlyArray<string>
  readonly desired: ReadonlyArray<string>
  /** How many differences there were in the beginning. */
  readonly differences: number
  /** Changes that the service has made, or made again; those that it has refused to make are none. */
  readonly changes: number
  /** Changes whose answer a fault has lost, and that were asked for again. */
  readonly lost: number
  readonly kills: number
}

const people = 120

/** Changes lists until so many processes were killed, each list to its end. */
export const run = async (wanted: number, seed: number): Promise<ReadonlyArray<Outcome>> => {
  const root = mkdtempSync(join(tmpdir(), "postwire-lists-"))
  await using sandbox = await Sandbox.start({ posts: 0, seed })
  const clearing = setInterval(() => sandbox.budget.clear(), 100)
  try {
    const program = await bundled(new URL("lister.ts", import.meta.url), join(root, "librarian.mjs"))
    const bearerToken = Redacted.value(sandbox.seeded.userBearerToken)
    const users = Array.from({ length: people }, () => sandbox.user().id)
    sandbox.faults.add({
      operation: ["addListMember", "removeListMember"],
      probability: 0.1,
      oneOf: [{ reset: "after" }, { reset: "before" }, { status: 503, after: true }, { status: 500 }, { delay: 20 }]
    })
    sandbox.faults.add({ operation: "getListMembers", probability: 0.1, oneOf: [{ status: 503 }, { page: "short" }] })
    const changes = () =>
      sandbox.requests.filter(({ operation = "" }) => operation === "addListMember" || operation === "removeListMember")
    const outcomes: Array<Outcome> = []
    let kills = 0
    for (let number = 1; kills < wanted; number++) {
      const draw = random(seed, `list ${number}`)
      const some = () => users.filter(() => draw.chance(0.5))
      const before = some()
      const desired = some()
      const list = sandbox.ada.list({ name: `List ${number}`, members: before.map((id) => ({ id })) }).id
      const told: Told = { baseUrl: sandbox.baseUrl, bearerToken, folder: join(root, "journal"), list, desired }
      sandbox.journal.clear()
      let killed = 0
      /** Runs a process, which may be killed; returns its last line. */
      const attempt = async (): Promise<string> => {
        const child = spawn(process.execPath, [program, JSON.stringify(told)], { stdio: ["ignore", "pipe", "inherit"] })
        let steps = killed < 10 ? draw.below(30) : -1
        let last = ""
        if (steps === 0) setTimeout(() => child.kill("SIGKILL"), 100 + draw.next() * 200)
        createInterface({ input: child.stdout }).on("line", (line) => {
          last = line
          if (--steps === 0) setTimeout(() => child.kill("SIGKILL"), draw.next() * 8)
        })
        const [, signal] = await once(child, "close")
        if (signal === "SIGKILL") killed++
        return last
      }
      while (await attempt() !== "done 0");
      kills += killed
      const made = changes()
      outcomes.push({
        members: users.filter((id) => sandbox.store.lists.isMember(list, id)),
        desired,
        differences: users.filter((id) => before.includes(id) !== desired.includes(id)).length,
        changes: made.filter(({ fault, status }) => fault === undefined && status === 200).length,
        lost: made.filter(({ fault }) => fault !== undefined).length,
        kills: killed
      })
    }
    return outcomes
  } finally {
    clearInterval(clearing)
    rmSync(root, { recursive: true, force: true })
  }
}
