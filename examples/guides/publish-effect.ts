// #region effect
import { ClientConfig, Publish, Thread, Upload } from "@postwire/core"
import * as FileJournal from "@postwire/node/FileJournal"
import * as FileSource from "@postwire/node/FileSource"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import { Console, Effect, Layer, Stream } from "effect"

const lighthouse = FileSource.file("lighthouse.png")

const program = Effect.gen(function*() {
  const { id } = yield* Publish.publish({ text: "Good evening", media: [{ file: lighthouse, alt: "A lighthouse" }] })
  yield* Console.log("posted", id)

  yield* Upload.upload.events(FileSource.file("harbour.mp4")).pipe(
    Stream.runForEach((step) => Console.log(step.phase === "ready" ? step.media.id : `${step.phase} ${step.fraction}`))
  )

  const thread = yield* Thread.publishThread([{ text: "One" }, { text: "Two" }], { key: "counting" })
  yield* Console.log(thread.posts.length, "posts")
}).pipe(
  Effect.catchTags({
    InvalidParameters: (error) => Console.log("nothing was sent:", error.message),
    OutcomeUnknown: (error) => Console.log("the media are uploaded; look for the post with", error.confirmWith)
  })
)

const client = ClientConfig.layer.pipe(Layer.provide(UndiciHttpClient.layer()))
await Effect.runPromise(Effect.provide(program, [client, FileJournal.layer()]))
// #endregion

// #region beside
import { createClient } from "@postwire/node/EffectClient"

await using promises = createClient()
const media = await promises.effect.runPromise(Upload.upload.resumable("lighthouse", lighthouse))
// #endregion
console.log(media.type)
