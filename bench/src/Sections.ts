/** The sections in the order of a run. */
import type { Section } from "./Rounds.ts"
import { section as calls } from "./sections/Calls.ts"
import { section as pages } from "./sections/Pages.ts"
import { section as streams } from "./sections/Streams.ts"
import { section as uploads } from "./sections/Uploads.ts"

export const sections: ReadonlyArray<Section> = [calls, pages, streams, uploads]
