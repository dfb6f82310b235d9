/**
 * Endless lines, as fast as the client reads, each post with its own id: `node Server.ts <wire> <block | line>`, by
 * what an HTTP chunk holds: 64 KiB of lines, cut where it happens to be, or one line.
 */
import type { WireName } from "@postwire/core/schema/WireName"
import * as Net from "node:net"
import * as Child from "../Child.ts"
import * as Lines from "./Lines.ts"

const [wire, pieces] = process.argv.slice(2) as [WireName, "block" | "line"]

const blockSize = 64 * 1024
const head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
const framed = (chunk: string) => `${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n`

const template = (() => {
  const lines = Lines.make(wire)
  if (pieces === "line") return Buffer.from(lines.map(framed).join(""))
  const all = Buffer.from(lines.join(""))
  const blocks: Array<Buffer> = []
  for (let at = 0; at < all.length; at += blockSize) {
    const block = all.subarray(at, at + blockSize)
    blocks.push(Buffer.from(`${block.length.toString(16)}\r\n`), block, Buffer.from("\r\n"))
  }
  return Buffer.concat(blocks)
})()

/** The places of ids; an id that a block cuts is not replaced. */
const places: Array<readonly [at: number, line: number]> = []
{
  let line = -1
  const before = Buffer.from(`"data":{"id":"`)
  for (let at = template.indexOf(before); at >= 0; at = template.indexOf(before, at + 1)) {
    line++
    const id = at + before.length
    if (template.toString("latin1", id, id + Lines.idLength) === Lines.placeholder) places.push([id, line])
  }
}

let sent = 0
const filled = (): Buffer => {
  const copy = Buffer.from(template)
  for (const [at, line] of places) copy.write(String(1_800_000_000_000_000_000n + BigInt(sent + line)), at, "latin1")
  sent += 1_000
  return copy
}

const server = Net.createServer((socket) => {
  socket.on("error", () => {})
  socket.once("data", () => {
    socket.write(head)
    const go = () => {
      while (!socket.destroyed && socket.write(filled()));
    }
    socket.on("drain", go)
    go()
  })
})
server.listen(0, "127.0.0.1", () => Child.answer((server.address() as Net.AddressInfo).port, async () => {}))
