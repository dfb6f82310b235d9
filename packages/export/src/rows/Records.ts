/** Splits UTF-8 text into records: lines or, in CSV, lines joined by quotes. */
import { isAscii, isUtf8 } from "node:buffer"

/** A record and its place. */
export interface Record {
  /** Without the line ending. */
  readonly text: string
  /** Its first line, from 1. */
  readonly line: number
  /** The place after it. */
  readonly next: Place
}

/** A place between two records: the bytes, lines and rows before it. */
export interface Place {
  readonly byte: number
  readonly line: number
  readonly row: number
}

/** The beginning of a file. */
export const beginning: Place = { byte: 0, line: 0, row: 0 }

/** Malformed text, its line, and what to do unless the text is to be corrected. */
export class Malformed extends Error {
  readonly line: number
  readonly advice: string | undefined
  constructor(line: number, reason: string, advice?: string) {
    super(reason)
    this.line = line
    this.advice = advice
  }
}

/** The largest record in bytes. A longer one is no row, and records are held in memory. */
const maxRecordBytes = 1_048_576

const newline = 0x0a
const carriageReturn = 0x0d

/** The non-empty records after a place, in batches per chunk. */
export async function* recordsOf(
  chunks: AsyncIterable<Buffer>,
  options: { readonly quotes: boolean; readonly from: Place }
): AsyncGenerator<ReadonlyArray<Record>> {
  const { from, quotes } = options
  let { line, row } = from
  let byte = from.byte
  let skip = from.byte
  let rest: Buffer = Buffer.alloc(0)
  const recordsIn = (buffer: Buffer, isEnd: boolean): Array<Record> => {
    const records: Array<Record> = []
    const whole = buffer.subarray(0, isEnd ? buffer.length : buffer.lastIndexOf(newline) + 1)
    const isOneByteEach = isAscii(whole)
    if (!isOneByteEach && !isUtf8(whole)) throw new Malformed(line + firstForeign(whole), "it is not text in UTF-8")
    const texts = whole.toString(isOneByteEach ? "latin1" : "utf8")
    let begin = 0
    let used = 0
    let lines = 0
    let isOpen = false
    for (let at = 0; at < texts.length;) {
      const found = texts.indexOf("\n", at)
      const end = found === -1 ? texts.length : found + 1
      lines++
      if (quotes && isOdd(texts.slice(at, end))) isOpen = !isOpen
      at = end
      if (isOpen && end < texts.length) continue
      if (isOpen && !isEnd) break
      if (isOpen) throw new Malformed(line + 1, "a quote is not closed")
      const bytes = isOneByteEach ? end - begin : Buffer.byteLength(texts.slice(begin, end))
      const isReturn = found > begin && texts.charCodeAt(found - 1) === carriageReturn
      const text = texts.slice(begin, found === -1 ? end : isReturn ? found - 1 : found)
      const start = line + 1
      line += lines
      byte += bytes
      used += bytes
      begin = end
      lines = 0
      if (text.trim() !== "" && text !== "\ufeff") records.push({ text, line: start, next: { byte, line, row: ++row } })
    }
    rest = buffer.subarray(used)
    if (rest.length > maxRecordBytes) {
      throw new Malformed(line + 1, quotes ? "a quote is open for more than 1 MB" : "it is longer than 1 MB")
    }
    return records
  }
  for await (const chunk of chunks) {
    const skipped = Math.min(skip, chunk.length)
    skip -= skipped
    if (skipped === chunk.length) continue
    const records = recordsIn(Buffer.concat([rest, chunk.subarray(skipped)]), false)
    if (records.length > 0) yield records
  }
  const records = recordsIn(rest, true)
  if (records.length > 0) yield records
}

/** Checks whether a line has an odd number of quotes. */
const isOdd = (line: string): boolean => {
  let isOdd = false
  for (let at = line.indexOf("\""); at !== -1; at = line.indexOf("\"", at + 1)) isOdd = !isOdd
  return isOdd
}

/** The first line that is not UTF-8, from 1. */
const firstForeign = (bytes: Buffer): number => {
  let line = 1
  for (let at = 0; at < bytes.length; line++) {
    const found = bytes.indexOf(newline, at)
    const end = found === -1 ? bytes.length : found + 1
    if (!isUtf8(bytes.subarray(at, end))) break
    at = end
  }
  return line
}
