import { assert, describe, it } from "@effect/vitest"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Redacted } from "effect"
import { spawn } from "node:child_process"
import { randomFillSync, randomInt } from "node:crypto"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { concat, mp4, png } from "../../core/test/support/MediaBytes.ts"
import { bundled } from "../../core/test/support/ProgramFile.ts"
import { pathOf } from "../../sandbox/src/media/MediaFiles.ts"
import { make as random } from "../../sandbox/src/text/random.ts"
import type { Order, Told } from "./support/uploader.ts"

const isLong = process.env["POSTWIRE_LONG"] === "1"

/** What was drawn before can be drawn again, but for what the machine adds. */
const seed = Number(process.env["POSTWIRE_SEED"] ?? randomInt(2 ** 31))

const mostKills = Number(process.env["POSTWIRE_KILLS"] ?? 40)

const chunkBytes = 65_536

/** A second of the service's passes in a twentieth of one. */
const speed = 20

describe.runIf(isLong)("an uploader that is killed: npm run test:long", () => {
  it(`leaves the bytes of the file, after ${mostKills} kills at random (POSTWIRE_SEED=${seed})`, async () => {
    const draw = random(seed, "uploads")
    const folder = mkdtempSync(join(tmpdir(), "postwire-uploads-"))
    const program = await bundled(new URL("support/uploader.ts", import.meta.url), join(folder, "uploader.mjs"))
    await using sandbox = await Sandbox.start({ posts: 0, seed, requestTimeout: 2000 })
    const { baseUrl, budget, clock, faults, journal, seeded } = sandbox
    const start = performance.now()
    let passed = start
    const passing = setInterval(() => {
      const now = performance.now()
      clock.advance((speed - 1) * (now - passed))
      passed = now
      budget.clear()
    }, 5)
    faults.add({
      operation: [
        "initializeMediaUpload",
        "appendMediaUpload",
        "finalizeMediaUpload",
        "getMediaUploadStatus",
        "createMediaMetadata"
      ],
      probability: 0.08,
      oneOf: [
        { reset: "before" },
        { reset: "after" },
        { truncate: true },
        { status: 500 },
        { status: 503, after: true },
        { delay: 50 },
        { delay: 10, pause: 2 }
      ]
    })

    const [ends, stages] = [{ killed: 0, failed: 0, done: 0 }, new Map<string, number>()]
    const failures: Array<string> = []
    let [files, bytes, expired, leaps] = [0, 0, 0, 0]

    /** Runs the uploader, and kills it soon after one of its next steps. Returns what it told at the end. */
    const attempt = async (path: string, key: string, alt: string, kill: boolean): Promise<Told | undefined> => {
      const order: Order = {
        settings: {
          baseUrl,
          // An hour of the faster clock: how busy the machine is decides nothing.
          timeout: { connect: 3_600_000, firstByte: 3_600_000, idle: 3_600_000, total: 3_600_000 },
          consumerKey: seeded.consumerKey,
          consumerSecret: Redacted.value(seeded.consumerSecret),
          accessToken: Redacted.value(seeded.accessToken),
          accessTokenSecret: Redacted.value(seeded.accessTokenSecret)
        },
        path,
        journal: join(folder, "journal"),
        key,
        alt,
        chunkBytes,
        aheadMillis: clock.now() - Date.now(),
        speed
      }
      const child = spawn(process.execPath, [
        "--disable-warning=ExperimentalWarning",
        program,
        JSON.stringify(order)
      ], { stdio: ["ignore", "pipe", "pipe"] })
      let errors = ""
      child.stderr.setEncoding("utf8").on("data", (text) => errors += text)
      let left = kill ? 1 + draw.below(16) : Infinity
      let last = ""
      const exit = once(child, "close")
      createInterface({ input: child.stdout }).on("line", (line) => {
        last = line
        if (--left === 0) setTimeout(() => child.kill("SIGKILL"), draw.next() * 12)
      })
      const [code, signal] = await exit
      if (signal === "SIGKILL") {
        ends.killed++
        const [stage = ""] = last.startsWith("{") ? ["ready"] : last.split(" ")
        stages.set(stage, 1 + (stages.get(stage) ?? 0))
      } else if (code === 0) {
        ends.done++
        return JSON.parse(last)
      } else {
        ends.failed++
        failures.push(errors)
        if (failures.length > 5) throw new Error(failures.map((text) => text.slice(0, 1500)).join("\n"))
      }
      return undefined
    }

    /** Uploads a file by as many processes as that takes. */
    const upload = async () => {
      const key = `file-${++files}`
      const isVideo = draw.chance(0.8)
      const media = randomFillSync(new Uint8Array(500_000 + draw.below(3_000_000)))
      const content = isVideo ? mp4({ media, isFast: draw.chance(0.5) }) : concat(png(), media)
      bytes += content.length
      const path = join(folder, key)
      writeFileSync(path, content)
      for (;;) {
        const leapsBefore = leaps
        const told = await attempt(path, key, `A picture: ${key}`, ends.killed < mostKills)
        if (told !== undefined) {
          const { mediaKey, seen } = told
          const response = await fetch(`${baseUrl}${pathOf(mediaKey, isVideo ? "video/mp4" : "image/png")}`)
          // The other lane moved the clock by more than the day for which unused media is served.
          if (response.status === 404 && leaps > leapsBefore) return
          assert.strictEqual(response.status, 200)
          assert.isTrue(Buffer.from(await response.arrayBuffer()).equals(content), `the bytes of ${key}`)
          assert.strictEqual(seen.alt_text, `A picture: ${key}`)
          assert.strictEqual(seen.type, isVideo ? "video" : "photo")
          return
        }
        if (draw.chance(0.08)) {
          expired++
          // The end of a session: by the clock of everybody, or for the service alone.
          if (draw.chance(0.5)) {
            leaps++
            clock.advance("16 days")
          } else faults.add({ operation: ["appendMediaUpload", "finalizeMediaUpload"], status: 404 })
        }
      }
    }

    const lane = async () => {
      while (ends.killed < mostKills) await upload()
    }
    try {
      await Promise.all([lane(), lane()])
    } finally {
      clearInterval(passing)
      rmSync(folder, { recursive: true, force: true })
    }
    const requests = journal.entries()
    const done = (operation: string) =>
      requests.filter((request) => request.operation === operation && request.status === 200 && !request.fault).length
    const sessions = done("initializeMediaUpload")
    const begun = stages.get("begin") ?? 0
    console.info(JSON.stringify({
      seed,
      files,
      bytes,
      ...ends,
      killedDuring: Object.fromEntries(stages),
      expired,
      sessions,
      requests: requests.length,
      faulty: requests.filter(({ fault }) => fault !== undefined).length,
      segments: { sent: done("appendMediaUpload"), needed: Math.ceil(bytes / chunkBytes) },
      seconds: Math.round((performance.now() - start) / 1000)
    }))
    assert.deepStrictEqual(failures, [])
    assert.strictEqual(ends.done, files)
    // All others went on where one had stopped. Two uploads are under way when the time passes.
    assert.isAtMost(sessions, files + begun + 2 * expired)
  }, 300_000)
})
