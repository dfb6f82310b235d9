/** The sections in the order of a run. */
import type { Section } from "./Rounds.ts"
import { section as accounts } from "./sections/Accounts.ts"
import { section as bundle } from "./sections/Bundle.ts"
import { section as calls } from "./sections/Calls.ts"
import { section as cluster } from "./sections/Cluster.ts"
import { section as copies } from "./sections/Copies.ts"
import { section as events } from "./sections/Events.ts"
import { section as exports } from "./sections/Exports.ts"
import { section as growth } from "./sections/Growth.ts"
import { section as hydrate } from "./sections/Hydrate.ts"
import { section as pages } from "./sections/Pages.ts"
import { section as sandbox } from "./sections/Sandbox.ts"
import { section as start } from "./sections/Start.ts"
import { section as stores } from "./sections/Stores.ts"
import { section as streams } from "./sections/Streams.ts"
import { section as uploads } from "./sections/Uploads.ts"

export const sections: ReadonlyArray<Section> = [
  calls,
  pages,
  streams,
  events,
  uploads,
  exports,
  hydrate,
  stores,
  sandbox,
  start,
  bundle,
  growth,
  accounts,
  cluster,
  copies
]
