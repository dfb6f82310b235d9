// Serves the page and its proxy on this machine: `node examples/web/serve.ts`, with the variables that `postwire sandbox`
// prints. Node's own server is made one of web requests here, as the servers of Workers, Deno and Bun are anyway.
import { build } from "esbuild"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { proxy } from "./proxy.ts"

const page = `<!doctype html><title>Ada</title><ul></ul><script type="module">
  import { lines } from "/page.js"
  for await (const line of lines()) {
    document.querySelector("ul").append(Object.assign(document.createElement("li"), { textContent: line }))
  }
</script>`

/** Starts it on a free port of this machine. */
export const serve = async (settings: { readonly baseUrl: string; readonly bearerToken: string }) => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("page.ts", import.meta.url))],
    bundle: true,
    format: "esm",
    minify: true,
    write: false
  })
  const server = createServer(async ({ headers, method = "GET", url = "/" }, response) => {
    const send = (type: string, body: string) => response.setHeader("content-type", type).end(body)
    if (url === "/") return send("text/html", page)
    if (url === "/page.js") return send("text/javascript", outputFiles[0]!.text)
    const named = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
    const answer = await pass(new Request(new URL(url, origin), { method, headers: named }))
    response.writeHead(answer.status, [...answer.headers].flat())
    response.end(new Uint8Array(await answer.arrayBuffer()))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const pass = proxy({
    ...settings,
    origin,
    prefix: "/2/users/",
    // In earnest, a session that a login made.
    allows: (request) => request.headers.get("authorization") === "Bearer session-of-ada"
  })
  return { origin, close: () => server.close().closeAllConnections() }
}

if (import.meta.main) {
  const { POSTWIRE_BASE_URL: baseUrl = "", POSTWIRE_BEARER_TOKEN: bearerToken = "" } = process.env
  console.log((await serve({ baseUrl, bearerToken })).origin)
}
