// #region promises
import { createClient } from "@postwire/node"

await using client = createClient()
for await (const { id, reason } of client.compliance.check({ type: "posts", ids: "posts.txt" })) {
  console.log(id, reason)
}
// #endregion

// #region blocking
import { createClientSync } from "@postwire/sync"

using blocking = createClientSync()
const { data: jobs = [] } = blocking.getComplianceJobs({ type: "posts", status: "complete" })
for (const job of jobs) {
  for (const { id, reason } of blocking.compliance.results(job)) console.log(job.id, id, reason)
}
// #endregion

// #region effect
import { ClientConfig, Compliance } from "@postwire/core"
import * as FileSource from "@postwire/node/FileSource"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import { Console, Effect, Layer, Stream } from "effect"

const layer = ClientConfig.layer.pipe(Layer.provide(UndiciHttpClient.layer()))
const gone = Compliance.check({ type: "users", ids: FileSource.file("authors.txt") }).pipe(
  Stream.runForEach(({ id, reason }) => Console.log("author", id, reason)),
  Effect.catchTags({
    ComplianceNotComplete: ({ jobId }) => Console.log(`look later at job ${jobId}`),
    ComplianceUnreadable: ({ message }) => Console.log(message)
  })
)
await Effect.runPromise(Effect.provide(gone, layer))
// #endregion
