// #region picture
import { createClient } from "@postwire/node"

await using client = createClient()

const { id } = await client.publish({
  text: "Good evening",
  media: [{ file: "lighthouse.png", alt: "A lighthouse at dusk" }]
})
console.log("posted", id)
// #endregion

// #region more
await client.publish({
  text: "Which one?",
  in_reply_to_post_id: id,
  poll: { options: ["The lighthouse", "The harbour"], duration_minutes: 60 }
})
// #endregion

// #region video
import { MediaProcessingFailed } from "@postwire/node"

try {
  const { media } = await client.publish({
    text: "The harbour",
    media: [{
      file: "harbour.mp4",
      subtitles: [{ file: "harbour.en.vtt", language: "EN", name: "English" }]
    }]
  }, {
    onProgress: (step) => {
      if (step.phase === "upload") console.log(`${step.sentBytes} of ${step.totalBytes} bytes`)
      if (step.phase === "processing") console.log(`${Math.round(step.fraction * 100)}% processed`)
    }
  })
  console.log(media[0]?.type)
} catch (error) {
  if (!(error instanceof MediaProcessingFailed)) throw error
  console.log("the service cannot play it:", error.detail)
}
// #endregion

// #region upload
const picture = await client.upload("lighthouse.png", { alt: "A lighthouse at dusk" })
await client.createPost({ text: "Good night", media_ids: [picture.id] })
console.log(picture.type, picture.category)
// #endregion

// #region message
import { readFile } from "node:fs/promises"

const photo = await client.upload(new Blob([await readFile("lighthouse.png")]), { purpose: "directMessage" })
// #endregion
console.log(photo.category)

// #region resume
const video = await client.upload("harbour.mp4", { resume: "harbour" })
// #endregion
console.log(video.type)

// #region events
for await (const step of client.upload.events("lighthouse.png")) {
  if (step.phase === "ready") console.log("media", step.media.id)
  else console.log(step.phase, step.fraction)
}
// #endregion

// #region stream
import { createReadStream } from "node:fs"
import { stat } from "node:fs/promises"

const { size } = await stat("lighthouse.png")
const streamed = await client.upload({ stream: createReadStream("lighthouse.png"), size, name: "lighthouse.png" })
// #endregion
console.log(streamed.size === size)

// #region thread
import { ThreadUndecided } from "@postwire/node"

const posts = [
  { text: "What is new", media: ["lighthouse.png"] },
  { text: "Second, the harbour" },
  { text: "And that is all" }
]
try {
  const thread = await client.publishThread(posts, { key: "news of November" })
  console.log(thread.posts.length, "posts,", thread.resumed ? "begun before" : "all of them now")
} catch (error) {
  if (!(error instanceof ThreadUndecided)) throw error
  console.log("Part", error.part, "may have been posted. Check by hand. If it was not, run this to send it:")
  console.log("publishThread(posts, { key: \"news of November\", undecided: \"continue\" })")
}
// #endregion

// #region cancel
const giveUp = AbortSignal.timeout(10 * 60_000)
await client.publish({ text: "In time", media: ["lighthouse.png"] }, { signal: giveUp })
// #endregion
