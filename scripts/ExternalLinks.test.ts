import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll } from "vitest"
import { externalLinks, fault } from "./externalLinks.ts"

describe("an address", () => {
  const statuses: Readonly<Record<string, number>> = { "/there": 200, "/refused": 403, "/gone": 404, "/removed": 410 }
  const server = createServer(({ url = "" }, response) => {
    if (url === "/silent") return
    if (url === "/moved") response.writeHead(301, { location: "/there" }).end()
    else if (url === "/lost") response.writeHead(302, { location: "/gone" }).end()
    else response.writeHead(statuses[url] ?? 500).end("text")
  })
  let base = ""
  beforeAll(async () => {
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  it.each([
    ["/there", undefined],
    ["/moved", undefined],
    ["/refused", undefined],
    ["/gone", "404"],
    ["/removed", "410"],
    ["/lost", "404"]
  ])("%s: %s", async (path, expected) => {
    assert.strictEqual(await fault(base + path), expected)
  })

  it("that does not answer counts as gone, and so does one without a server", async () => {
    assert.strictEqual(await fault(`${base}/silent`, 50), "no answer within 0.05 s")
    assert.strictEqual(await fault("http://127.0.0.1:1/"), "no connection")
  })
})

it("addresses are those of prose, without examples", () => {
  assert.deepStrictEqual(
    externalLinks(
      "[a](https://a.org/x#y) <https://b.org/> [c](c.md) `[d](https://d.org)` [e](https://www.example.com/) " +
        "[f](http://127.0.0.1:8080/)\n\n```md\n[g](https://g.org)\n```\n"
    ),
    ["https://a.org/x#y", "https://b.org/"]
  )
})
