/** A process that publishes a thread, and tells of each step until it is killed or done. */
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import type { Post } from "@postwire/core/publishing/Publish"
import { publishThread } from "@postwire/core/publishing/Thread"
import * as FileJournal from "@postwire/node/FileJournal"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import { Effect, Layer } from "effect"
import { writeSync } from "node:fs"
import type { Told } from "./KilledThreads.ts"

const { baseUrl, bearerToken, folder, key, parts }: Told = JSON.parse(process.argv[2] ?? "")

const tell = (line: string) => writeSync(1, `${line}\n`)

const posts = parts.map(({ photo, text }): Post => ({
  text,
  // What has a poll or a photo may be said twice, as far as the service is concerned.
  ...(photo === undefined
    ? { poll: { options: ["yes", "no"], duration_minutes: 60 } }
    : { media: [Uint8Array.from(Buffer.from(photo, "base64"))] })
}))

const Publisher = Layer.merge(
  Client.layer({ baseUrl, retries: 1 }).pipe(
    Layer.provide([Credentials.layerBearer(bearerToken), UndiciHttpClient.layer()])
  ),
  FileJournal.layer({ folder })
)

process.exitCode = await publishThread(posts, {
  key,
  user_auth: false,
  // The service shows at once what it has.
  lag: 150,
  onProgress: ({ phase }) => tell(phase)
}).pipe(
  Effect.match({
    onSuccess: () => 0,
    onFailure: ({ _tag, message }) => {
      tell(`failed ${_tag} ${message}`)
      return 1
    }
  }),
  Effect.provide(Publisher),
  Effect.runPromise
)
