/** The sandbox with many posts, in a file: what a post takes, a start, and a request. */
import { rmSync } from "node:fs"
import { join } from "node:path"
import * as Sandboxes from "../../../bench/src/sections/Sandbox.ts"

/** Figures of one size: seconds, bytes and microseconds. */
export interface Figures {
  readonly "making all posts": number
  readonly "the file": number
  readonly "a start with the file": number
  readonly "a page of a search": number
  readonly "a page of a rare conjunction": number
  readonly "a timeline": number
  readonly "a lookup": number
  readonly "a write": number
}

const requests = 60

/** Measures a sandbox with so many posts. */
export const measure = async (posts: number, folder: string): Promise<Figures> => {
  const file = join(folder, `${posts}.sqlite`)
  const start = () => Sandboxes.start({ before: undefined }, "sandbox", posts, file)
  const { made } = await (async () => {
    await using sandbox = await start()
    return sandbox.ready
  })()
  await using sandbox = await start()
  const paths = await Sandboxes.pathsOf(sandbox, false)
  const { data: [newest] = [] } = await sandbox.send({ path: paths["page of 100: common word"]! })
  const costOf = async (requestOf: (i: number) => { readonly path: string; readonly body?: object }) => {
    await sandbox.ask({ count: requests, requestOf })
    return (await sandbox.ask({ count: requests, requestOf })).CPU ?? Number.NaN
  }
  const pageOf = (name: string) => costOf(() => ({ path: paths[`page of 100: ${name}`]! }))
  const figures = {
    "making all posts": made.CPU / 1e6,
    "the file": (made.size ?? 0) * 1e3,
    "a start with the file": sandbox.ready.made.CPU,
    "a page of a search": await pageOf("common word"),
    "a page of a rare conjunction": await pageOf("rare conjunction"),
    "a timeline": await pageOf("timeline"),
    "a lookup": await costOf(() => ({ path: `/2/posts/${newest?.id}` })),
    "a write": await costOf((i) => ({ path: "/2/posts", body: { text: `post ${performance.now()} ${i} #effect` } }))
  }
  for (const suffix of ["", "-wal", "-shm"]) rmSync(file + suffix, { force: true })
  return figures
}
