/** The start of programs that use the packages as installed, each time a new process: imports, one call, the command. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Bodies from "../Bodies.ts"
import * as Checkout from "../Checkout.ts"
import * as Child from "../Child.ts"
import * as Installed from "../Installed.ts"
import * as Rounds from "../Rounds.ts"

interface Start extends Rounds.Task {
  readonly program: "import" | "one call" | "command"
}

/** Reports the CPU time of a process and what it measured itself. */
const hook = `data:text/javascript,${
  encodeURIComponent(`
    import { writeSync } from "node:fs"
    process.on("exit", () => {
      const { system, user } = process.cpuUsage()
      writeSync(3, JSON.stringify({ CPU: user + system, ...globalThis.figures }))
    })
  `)
}`

const timed = (metric: string, code: string): string =>
  `const begun = performance.now(); ${code}; globalThis.figures = { ${metric}: (performance.now() - begun) * 1000 }`

const importing = (name: string): string => timed("import", `await import("${name}")`)

const { id } = Bodies

/** The programs of each contender. */
const programsOf = (url: string): Readonly<Record<string, Partial<Record<Start["program"], string>>>> => ({
  "empty script": { import: "", "one call": "", command: "" },
  "twitter-api-v2": {
    import: importing("twitter-api-v2"),
    "one call": `
      import { Agent } from "node:https"
      import * as Net from "node:net"
      import { TwitterApi } from "twitter-api-v2"
      class PlainAgent extends Agent {
        createConnection() { return Net.connect({ host: "127.0.0.1", port: ${new URL(url).port} }) }
      }
      const { v2 } = new TwitterApi("a", { httpAgent: new PlainAgent() })
      ${timed("call", `await v2.singleTweet("${id}")`)}
    `
  },
  openai: {
    import: importing("openai"),
    "one call": `
      import OpenAI from "openai"
      const client = new OpenAI({ apiKey: "a", baseURL: "${url}" })
      ${timed("call", `await client.get("/2/posts/${id}")`)}
    `
  },
  "@postwire/node": {
    import: importing("@postwire/node"),
    "one call": `
      import { createClient } from "@postwire/node"
      const client = createClient({ baseUrl: "${url}", bearerToken: "a" })
      ${timed("call", `await client.getPost({ id: "${id}" })`)}
      await client.close()
    `
  },
  "@postwire/sync": {
    import: importing("@postwire/sync"),
    "one call": `
      import { createClientSync } from "@postwire/sync"
      const client = createClientSync({ baseUrl: "${url}", bearerToken: "a" })
      ${timed("call", `client.getPost({ id: "${id}" })`)}
      client.close()
    `
  },
  "postwire --version": { command: "" }
})

/** Runs a program, and returns what it took from its start to its end. */
const take = async (folder: string, args: ReadonlyArray<string>): Promise<Rounds.Reading> => {
  // What the workspace sets for its own processes, an installed program does not have.
  const { NODE_COMPILE_CACHE: _, NODE_OPTIONS: _options, ...env } = process.env
  const begun = performance.now()
  const child = spawn(process.execPath, ["--import", hook, ...args], {
    cwd: folder,
    env,
    stdio: ["ignore", "ignore", "inherit", "pipe"]
  })
  let text = ""
  child.stdio[3]?.on("data", (chunk) => text += chunk)
  const [code] = await once(child, "close")
  const time = (performance.now() - begun) * 1000
  if (code !== 0) throw new Error(`A program of ${folder} failed: ${args.join(" ")}`)
  const { CPU, ...figures } = JSON.parse(text)
  return { CPU, time, ...figures }
}

const run = async (bench: Rounds.Bench, seconds: number): Promise<void> => {
  using server = await Child.start<object, unknown>("Server.ts", "calls")
  const programs = programsOf(String(server.hello))
  bench.say("start: packing and installing", 0)
  const folder = await Installed.folderOf(Checkout.own)
  const before = bench.before === undefined ? undefined : await Installed.folderOf(bench.before.folder)
  const contenderOf = (name: string) => {
    const at = name.endsWith(" before") && before !== undefined ? before : folder
    const own = programs[name.replace(/ (again|before)$/, "")]!
    const { bin } = JSON.parse(readFileSync(join(at, "node_modules/@postwire/cli/package.json"), "utf8"))
    return {
      ask: ({ program }: Start) =>
        take(
          at,
          name.startsWith("postwire --version")
            ? [join(at, "node_modules/@postwire/cli", bin.postwire), "--version"]
            : ["--input-type=module", "-e", own[program] ?? ""]
        )
    }
  }
  const libraries = ["@postwire/node", "@postwire/sync"]
  const groups = [
    { program: "import", names: Rounds.select(bench, ["twitter-api-v2", "empty script"], libraries, ["openai"]) },
    { program: "one call", names: Rounds.select(bench, ["twitter-api-v2", "empty script"], libraries, ["openai"]) },
    { program: "command", names: Rounds.select(bench, ["empty script"], ["postwire --version"]) }
  ] as const
  for (const [i, { names, program }] of groups.entries()) {
    await Rounds.compare<Start>(bench, {
      section: "start",
      contenders: new Map(names.map((name) => [name, contenderOf(name)])),
      scenarios: [{ name: program, task: { count: 1, program } }],
      seconds: seconds / groups.length,
      from: i / groups.length,
      share: 1 / groups.length,
      isWarm: true
    })
  }
}

export const section: Rounds.Section = { name: "start", seconds: 16, fullSeconds: 60, run }
