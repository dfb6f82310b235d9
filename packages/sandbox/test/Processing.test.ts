import { assert, describe, it } from "@effect/vitest"
import * as Processing from "../src/media/Processing.ts"
import type { Upload } from "../src/store/Uploads.ts"
import { now, second } from "./support/Requests.ts"

const MiB = 1_048_576

const upload = (size: number, more: Partial<Upload> = {}): Upload => ({
  id: "1",
  owner_id: "2",
  additional_owners: [],
  category: "tweet_video",
  media_type: "video/mp4",
  total_bytes: size,
  expires_at: now + Processing.validitySeconds * second,
  finalized_at: now,
  ready_at: now + Processing.millisOf("video/mp4", "tweet_video", size),
  failure: undefined,
  used: false,
  ...more
})

describe("processing", () => {
  it("lasts a second for every 16 MiB of what moves, and no time for the rest", () => {
    for (
      const [type, category, size, millis] of [
        ["image/png", "tweet_image", 5 * MiB, 0],
        ["image/gif", "dm_image", MiB, 0],
        ["text/vtt", "subtitles", 10, 0],
        ["image/gif", "tweet_gif", 15 * MiB, 1_000],
        ["video/mp4", "dm_video", 1, 1_000],
        ["video/quicktime", "tweet_video", 16 * MiB, 1_000],
        ["video/mp4", "tweet_video", 16 * MiB + 1, 2_000],
        ["video/mp4", "amplify_video", 512 * MiB, 32_000]
      ] as const
    ) assert.strictEqual(Processing.millisOf(type, category, size), millis)
  })

  it("tells how far it is, and when to ask again", () => {
    const large = upload(512 * MiB)
    const at = (seconds: number) => Processing.infoOf(large, now + seconds * second)
    // A clock that was set back has not begun.
    assert.deepStrictEqual(at(-9), { state: "pending", check_after_secs: 30 })
    assert.deepStrictEqual(at(0), { state: "pending", check_after_secs: 30 })
    assert.deepStrictEqual(at(7.9), { state: "pending", check_after_secs: 25 })
    assert.deepStrictEqual(at(8), { state: "in_progress", check_after_secs: 24, progress_percent: 25 })
    assert.deepStrictEqual(at(31.9), { state: "in_progress", check_after_secs: 1, progress_percent: 99 })
    assert.deepStrictEqual(at(32), { state: "succeeded", progress_percent: 100 })
    assert.isUndefined(Processing.infoOf(upload(9, { ready_at: now }), now))
    const failure = { code: 1, name: "InvalidMedia", message: "file is invalid" }
    assert.deepStrictEqual(Processing.infoOf(upload(9, { failure }), now + second), {
      state: "failed",
      progress_percent: 100,
      error: failure
    })
  })

  it("ends in time for nobody, unless something shows the media", () => {
    const { expires_at } = upload(9)
    assert.strictEqual(Processing.stateOf(upload(9), expires_at - 1), "succeeded")
    assert.strictEqual(Processing.stateOf(upload(9), expires_at), "expired")
    assert.strictEqual(Processing.stateOf(upload(9, { used: true }), expires_at), "succeeded")
    const begun = upload(9, { finalized_at: undefined, ready_at: undefined })
    assert.deepStrictEqual([Processing.stateOf(begun, now), Processing.infoOf(begun, now)], ["uploading", undefined])
  })
})
