/** Runs streams: keeps a connection up and delivers its items or events. Operations are made of these functions. */
export type { AnyStreamError } from "./internal/buffer.ts"
export { idOf } from "./internal/deduplicator.ts"
export { timeOf } from "./internal/gaps.ts"
export { items, load, run } from "./internal/loading.ts"
