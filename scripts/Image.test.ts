/** The image of the sandbox: built and run by an engine where there is one, and otherwise its steps by hand. */
import { assert, describe, it } from "@effect/vitest"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { pack } from "./pack.ts"

const file = join(import.meta.dirname, "../packages/sandbox/Dockerfile")

const steps = readFileSync(file, "utf8").split("\n").filter((line) => /^[A-Z]/.test(line)).map((line) => {
  const [name = "", ...rest] = line.split(" ")
  return [name, rest.join(" ")] as const
})

const step = (name: string): string => steps.find(([of]) => of === name)![1]

it("the image begins with one image of the Node of this project, and needs no root", () => {
  const [, version, digest] = /^node:([\d.]+)-slim@sha256:([0-9a-f]{64})$/.exec(step("FROM")) ?? []
  assert.strictEqual(`v${version}`, process.version)
  assert.isDefined(digest)
  assert.deepStrictEqual(steps.map(([name]) => name), ["FROM", "COPY", "USER", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT"])
  assert.strictEqual(step("USER"), "node")
})

/** The process of a container, or of its steps in a folder. It prints one JSON line when it is ready. */
const started = (context: string, root: string, port: number): ChildProcess => {
  const options = ["--json", "--posts", "50"]
  if (spawnSync("docker", ["info"]).status === 0) {
    const built = spawnSync("docker", ["build", "--quiet", "--file", file, context], { encoding: "utf8" })
    assert.strictEqual(built.status, 0, built.stderr)
    return spawn("docker", ["run", "--rm", "--publish", `127.0.0.1:${port}:8080`, built.stdout.trim(), ...options])
  }
  const [from = "", to = ""] = step("COPY").split(" ")
  cpSync(join(context, from), join(root, to), { recursive: true })
  const [, ...entry]: ReadonlyArray<string> = JSON.parse(step("ENTRYPOINT"))
  const args = entry.map((argument) => argument.startsWith("/") ? join(root, argument) : argument)
  return spawn(process.execPath, [...args, ...options, "--port", `${port}`], { cwd: root, env: {} })
}

/** A port that was free a moment ago. */
const freePort = async (): Promise<number> => {
  const { createServer } = await import("node:net")
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  return typeof address === "object" ? address!.port : 0
}

describe.skipIf(process.env["POSTWIRE_LONG"] === undefined)("the image: npm run test:long", () => {
  it("serves its port, answers the check of its health, and ends when it is stopped", async () => {
    const folder = mkdtempSync(join(tmpdir(), "postwire-image-"))
    let child: ChildProcess | undefined
    try {
      mkdirSync(join(folder, "context"))
      const cli = pack(folder).get("cli")!
      spawnSync("tar", ["xzf", cli, "-C", join(folder, "context"), "--strip-components=1"])
      const port = await freePort()
      child = started(join(folder, "context"), join(folder, "root"), port)
      const [line]: ReadonlyArray<string> = await once(createInterface(child.stdout!), "line") as [string]
      const { environment } = JSON.parse(line!)
      const authorization = `Bearer ${environment.POSTWIRE_BEARER_TOKEN}`
      const me = await fetch(`http://localhost:${port}/2/users/me`, { headers: { authorization } })
      assert.strictEqual((await me.json()).data.username, "ada")

      const [, , check]: ReadonlyArray<string> = JSON.parse(step("HEALTHCHECK").replace(/^.* CMD /, ""))
      const healthy = (at: number) => spawnSync(process.execPath, ["-e", check!.replace("8080", `${at}`)]).status
      assert.strictEqual(healthy(port), 0)
      const ended = once(child, "exit")
      child.kill("SIGTERM")
      await ended
      assert.strictEqual(healthy(port), 1)
    } finally {
      child?.kill("SIGKILL")
      rmSync(folder, { recursive: true })
    }
  }, 120_000)
})
