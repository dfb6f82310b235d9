/** A Singer tap and an Airbyte source over a copy that is kept up to date. */
export * as Source from "./airbyte/Source.ts"
export * as Config from "./config/Config.ts"
export * as Tap from "./singer/Tap.ts"
export * as Reading from "./streams/Reading.ts"
export * as Streams from "./streams/Streams.ts"
