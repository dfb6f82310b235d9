/** What the worker fetches as the loop gets to it, batch by batch. */
import type { Connection } from "./connection.ts"

/** Every stream has another number, so that none is taken for one of a worker that was lost. */
let lastStream = 0

/** Opens a stream in the worker and takes what comes at once, until its end, which is `undefined`, or that of the loop. */
export function* batches<A>(
  connection: Connection,
  open: (stream: number) => void,
  next: (stream: number) => A | undefined
): Generator<A> {
  const stream = ++lastStream
  try {
    open(stream)
    for (let some = next(stream); some !== undefined; some = next(stream)) yield some
  } finally {
    connection.leave(stream)
  }
}
