import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { mkdtempSync, openAsBlob, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { png } from "../../core/test/support/MediaBytes.ts"
import * as Sync from "../src/index.ts"
import { startSandbox, stop } from "./support/Children.ts"
import { thrown } from "./support/Thrown.ts"

let sandbox: Awaited<ReturnType<typeof startSandbox>>
let folder: string

beforeAll(async () => {
  sandbox = await startSandbox()
  folder = mkdtempSync(join(tmpdir(), "postwire-compliance-"))
})

afterAll(async () => {
  await stop(sandbox?.child)
  rmSync(folder, { recursive: true })
})

/** Jobs are an app's, whose token the environment has beside the user's. */
const make = () => Sync.createClientSync(Sync.fromEnvironment(sandbox.ready.environment))

/** Of the service, so that nothing is waited for. */
const advance = () => {
  using admin = Sync.createClientSync({ baseUrl: sandbox.ready.baseUrl, bearerToken: sandbox.ready.adminToken })
  admin.request({ method: "POST", path: "/_sandbox/clock", body: { advance: "1 second" } })
}

const reasonsOf = (results: Iterable<Sync.ComplianceResult>) => Array.from(results, ({ id, reason }) => [id, reason])

describe("client.compliance", () => {
  it("checks ids, reports progress, and allows other calls in between", () => {
    using client = make()
    const kept = client.createPost({ text: "kept" }).data?.id ?? ""
    const phases: Array<string> = []
    const found: Array<unknown> = []
    const onProgress = ({ ids, phase }: Sync.ComplianceProgress) => {
      // It may block the thread as well.
      phases.push(`${phase} of ${ids} for ${client.getMe().data?.username}`)
    }
    for (
      const { id, reason } of client.compliance.check({ type: "posts", ids: new Set([1n, kept, "2"]), onProgress })
    ) {
      found.push([id, reason, client.getMe().data?.username])
    }
    assert.deepStrictEqual(found, [["1", "deleted", "ada"], ["2", "deleted", "ada"]])
    assert.deepStrictEqual(phases, ["upload of 0 for ada", "wait of 3 for ada", "results of 3 for ada"])
  })

  it("runs the steps one by one, and starts over with each loop", () => {
    using client = make()
    const { data } = client.createComplianceJob({ type: "users" })
    const job = data ?? assert.fail("there is no job")
    const early = thrown(() => [...client.compliance.results({ id: job.id })])
    assert.deepInclude(early, { _tag: "ComplianceNotComplete", jobId: job.id, status: "created" })
    assert.instanceOf(early, Sync.ComplianceNotComplete)
    const waited = thrown(() => client.compliance.wait(job, { maxWait: 0 }))
    assert.instanceOf(waited, Sync.ComplianceNotComplete)
    const file = join(folder, "ids.txt")
    writeFileSync(file, "1\n2\n3\n")
    for (const ids of [file, pathToFileURL(file), new TextEncoder().encode("1\n2\n3"), new Blob(["1\n2\n", "3\n"])]) {
      assert.strictEqual(client.compliance.upload(job, ids), 3)
    }
    assert.strictEqual(client.compliance.upload(job, ["1", 2]), 2)
    advance()
    assert.strictEqual(client.compliance.wait(job).status, "complete")
    const results = client.compliance.results(job)
    for (const { id } of results) {
      assert.strictEqual(id, "1")
      break
    }
    assert.deepStrictEqual(reasonsOf(results), [["1", "deleted"], ["2", "deleted"]])
    const iterator = results[Symbol.iterator]()
    assert.strictEqual(iterator.next().value.id, "1")
    client.close()
    assert.throws(() => iterator.next(), /closed/)
    assert.throws(() => client.compliance.wait(job), /closed/)
  })

  it("rejects invalid ids, with the line of the call", async () => {
    using client = make()
    const job = { id: "1", upload_url: "https://service.test/1", status: "created" as const }
    const blob = await openAsBlob(new URL(import.meta.url))
    const stream = { stream: new ReadableStream<Uint8Array>(), size: 1 }
    for (
      const [ids, rule] of [
        [["1", "ada"], /1 to 19 digits \(number 2 is not one\)/],
        [[], /must not be empty/],
        [(async function*() {})(), /asynchronous/],
        [stream, /cannot be read/],
        [new URL("https://service.test/ids"), /a path or a file: URL/],
        [blob, /handed to a worker/],
        [5, /must be ids in an iterable/]
      ] as const
    ) {
      const given = ids as Sync.ComplianceIds
      for (
        const error of [
          thrown(() => client.compliance.upload(job, given)),
          thrown(() => [...client.compliance.check({ type: "posts", ids: given })])
        ]
      ) {
        assert(error instanceof Sync.InvalidParameters)
        assert.strictEqual(error.parameter, "ids")
        assert.match(error.rule, rule)
        const called = error.stack?.split("\n").filter((line) => line.startsWith("    at")).slice(0, 2)
        assert.include(called?.join("\n"), "Compliance.test.ts")
      }
    }
  })
})

describe("bytes", () => {
  it("of the file of a direct message come to the thread that is blocked", () => {
    using client = Sync.createClientSync(Sync.fromEnvironment(sandbox.ready.environment))
    const picture = png()
    const { data: media } = client.uploadMedia({ media: picture, media_category: "dm_image" })
    const { data: me } = client.getMe()
    const { data: [other] = [] } = client.getUsersFollowers({ id: me?.id ?? "", max_results: 1, user_auth: true })
    const { data: sent } = client.createDirectMessage({ participant_id: other?.id ?? "", media_id: media?.id })
    const named = {
      dm_id: sent?.dm_event_id ?? "",
      media_id: media?.id ?? "",
      resource_id: `${media?.media_key}.png`
    }
    assert.deepStrictEqual(client.downloadDirectMessageMedia(named).data, picture)
    assert.deepStrictEqual(client.as("dictionary").downloadDirectMessageMedia(named).data, picture)
    assert.deepStrictEqual(client.as("raw").downloadDirectMessageMedia(named).bytes(), picture)
    const absent = thrown(() => client.downloadDirectMessageMedia({ ...named, resource_id: "other.png" }))
    assert.instanceOf(absent, Sync.NotFound)
  })
})
