/** JSON Lines: one object per line, as the service sent it, plain or compressed. */
import type { FileSink } from "../folders/Sink.ts"
import * as Files from "./Files.ts"

const format: Files.Format = {
  name: "jsonl",
  extension: ".jsonl",
  encoder: () => ({ header: "", rows: Files.lines })
}

/** JSON Lines into `path` and files of its folder. */
export const make = (path: string, options: { readonly compression?: Files.Compression | undefined } = {}): FileSink =>
  Files.make(path, format, options.compression ?? "none")
