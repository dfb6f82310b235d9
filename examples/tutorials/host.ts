import { spawn } from "node:child_process"
import { createInterface } from "node:readline"

// A host without a model: it calls the tools that the command line names, such as `search '{"query":"effect"}'`.
const calls = process.argv.slice(2)
const server = spawn("node_modules/.bin/postwire", ["mcp", "--credentials", "sandbox.env", "--allow-writes"], {
  stdio: ["pipe", "pipe", "inherit"]
})
const send = (message: object) => server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
let text = ""

const next = (id: number) => {
  const name = calls.shift()
  if (name === undefined) return server.stdin.end()
  // The handle of what was prepared before.
  const handle = /^handle: (\w+)/m.exec(text)?.[1]
  const parameters = JSON.parse((calls.shift() ?? "{}").replace("HANDLE", String(handle)))
  console.log(`> ${name} ${JSON.stringify(parameters)}`)
  send({ id, method: "tools/call", params: { name, arguments: parameters } })
}

send({
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: { elicitation: {} },
    clientInfo: { name: "tutorial", version: "1" }
  }
})
for await (const line of createInterface({ input: server.stdout })) {
  const message = JSON.parse(line)
  if (message.method === "elicitation/create") {
    console.log(`  The server asks: ${message.params.message}`)
    send({ id: message.id, result: { action: "accept", content: { allow: true } } })
  } else if (message.id === 0) {
    send({ method: "notifications/initialized" })
    next(1)
  } else if (message.result !== undefined) {
    text = message.result.content[0].text
    console.log(text)
    next(message.id + 1)
  }
}
