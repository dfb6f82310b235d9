// Builds the page with Vite, serves it with a proxy to the service, and opens it in Chromium.
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buffer, text } from "node:stream/consumers"
import { build } from "vite"

const browser = ["chromium", "chromium-browser", "google-chrome"]
  .find((command) => spawnSync(command, ["--version"], { stdio: "ignore" }).status === 0)
if (browser === undefined) {
  console.log("skipped: Chromium is not installed")
  process.exit()
}

const { output } = await build({
  configFile: false,
  logLevel: "error",
  build: { write: false, rolldownOptions: { input: "page.mjs" } }
})
const page = output.find(({ isEntry }) => isEntry)
// What is loaded when it is needed is a file of its own.
const codes = new Map(output.map(({ code, fileName }) => [`/${fileName}`, code]))
const { POSTWIRE_BASE_URL, POSTWIRE_BEARER_TOKEN } = process.env
const result = Promise.withResolvers()
const server = createServer(async (request, response) => {
  switch (request.url) {
    case "/":
      return response.setHeader("content-type", "text/html").end(
        `<script type="module" src="/${page.fileName}"></script>`
      )
    case "/result":
      result.resolve(await text(request))
      return response.end()
    default: {
      const code = codes.get(request.url)
      if (code !== undefined) return response.setHeader("content-type", "text/javascript").end(code)
      const { method } = request
      const { "content-type": type } = request.headers
      const headers = { accept: "application/json", authorization: `Bearer ${POSTWIRE_BEARER_TOKEN}` }
      const sent = method === "GET"
        ? { headers }
        : { method, headers: { ...headers, "content-type": type }, body: await buffer(request) }
      const answer = await fetch(POSTWIRE_BASE_URL + request.url, sent)
      const told = ["content-type", "date", "x-rate-limit-limit", "x-rate-limit-remaining", "x-rate-limit-reset"]
        .flatMap((name) => answer.headers.has(name) ? [[name, answer.headers.get(name)]] : [])
      response.writeHead(answer.status, Object.fromEntries(told)).end(await answer.text())
    }
  }
}).listen(0, "127.0.0.1")
await once(server, "listening")
const profile = mkdtempSync(join(tmpdir(), "postwire-chromium-"))
const origin = `http://127.0.0.1:${server.address().port}`
const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", `--user-data-dir=${profile}`]
const child = spawn(browser, [...flags, origin], { stdio: "ignore" })
console.log(await result.promise)
child.kill()
await once(child, "exit")
server.close().closeAllConnections()
rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
