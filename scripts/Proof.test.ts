/** Every proof, a tiny share of it: that it runs, and finds nothing. */
import { assert, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { proofs } from "../proof/src/Proofs.ts"

/** Measures its process, which must not be that of other tests. */
const soak = "soak"

it.for(Object.keys(proofs).filter((name) => name !== soak))(
  "the proof %s holds in a tiny share",
  { timeout: 120_000 },
  async (name, { skip }) => {
    const { proof } = await proofs[name]!()
    if (proof.missing !== undefined) skip(proof.missing)
    const { claims } = await proof.run({ share: 0.001, seed: 1, say: () => {} })
    assert.isNotEmpty(claims)
    assert.deepStrictEqual(claims.filter(({ holds }) => !holds), [])
  }
)

it.skipIf(process.env["POSTWIRE_LONG"] === undefined)(
  "a soak of seconds works under faults: npm run test:long",
  async () => {
    const main = fileURLToPath(new URL("../proof/src/main.ts", import.meta.url))
    // Other claims are about time, and about caches that are still being filled.
    const printed = await new Promise<string>((resolve) =>
      execFile(process.execPath, [main, soak, "--share", "0.0005"], (_, stdout) => resolve(stdout))
    )
    assert.match(printed, /^holds {2}soak: work under faults: /m)
    assert.match(printed, /^holds {2}soak: failures that the client could not mend: /m)
  },
  300_000
)
