/** A process that changes the members of a list, and tells of each change until it is killed or done. */
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import * as RateLimit from "@postwire/core/rate-limit/RateLimit"
import { syncListMembers } from "@postwire/core/workflows/ListMembers"
import * as FileJournal from "@postwire/node/FileJournal"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import { Effect, Layer } from "effect"
import { writeSync } from "node:fs"
import type { Told } from "./KilledLists.ts"

const { baseUrl, bearerToken, desired, folder, list }: Told = JSON.parse(process.argv[2] ?? "")

const tell = (line: string) => writeSync(1, `${line}\n`)

const Librarian = Layer.merge(
  Client.layer({ baseUrl, retries: 1 }).pipe(
    Layer.provide([
      Credentials.layerBearer(bearerToken),
      UndiciHttpClient.layer(),
      RateLimit.layerWait()
    ])
  ),
  FileJournal.layer({ folder })
)

process.exitCode = await syncListMembers(list, desired, {
  user_auth: false,
  maxRemovals: 5_000,
  onProgress: ({ last }) => tell(last.became)
}).pipe(
  Effect.match({
    onSuccess: ({ refused }) => {
      tell(`done ${refused}`)
      return 0
    },
    onFailure: ({ _tag, message }) => {
      tell(`failed ${_tag} ${message}`)
      return 1
    }
  }),
  Effect.provide(Librarian),
  Effect.runPromise
)
