import { createClient } from "@postwire/node"
import { test } from "@postwire/sandbox/vitest"
import { expect } from "vitest"

/** A GIF of one pixel. */
const pixel = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64")

test("posts a picture, whose address serves it", async ({ sandbox }) => {
  await using client = createClient(sandbox.settings)
  const { id } = await client.publish({ text: "Look", media: [{ file: pixel, alt: "A pixel" }] })

  const { includes } = await client.getPost({
    id,
    expansions: ["attachments.media_keys"],
    media_fields: ["alt_text", "url", "width"]
  })
  const [media] = includes.media ?? []
  expect(media).toMatchObject({ type: "photo", alt_text: "A pixel", width: 1 })
  const served = await fetch(media?.url ?? "")
  expect(Buffer.from(await served.arrayBuffer()).equals(pixel)).toBe(true)
})

test("says why media cannot be used", async ({ sandbox }) => {
  await using client = createClient(sandbox.settings)
  sandbox.faults.add({ operation: "finalizeMediaUpload", processing: "failed" })
  await expect(client.upload(pixel)).rejects.toMatchObject({ _tag: "MediaProcessingFailed", reason: "InvalidMedia" })
})

test("uploads again what has expired", async ({ sandbox }) => {
  await using client = createClient(sandbox.settings)
  const { id } = await client.upload(pixel)
  sandbox.clock.advance("1 day")
  await expect(client.createPost({ media_ids: [id] })).rejects.toMatchObject({ _tag: "BadRequest" })

  const again = await client.upload(pixel)
  await client.createPost({ media_ids: [again.id] })
  expect(sandbox.requests.at(-1)?.status).toBe(201)
})
