// Runs a command on the workspace's own Node and tools, installing them first where they are missing or outdated:
//   node scripts/bootstrap.mjs <command> [argument...]
// Plain JavaScript without dependencies, because it starts on whatever Node the machine has.
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { constants } from "node:os"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const bin = join(root, "node_modules", ".bin")
const stamp = join(root, "node_modules", ".postwire-install")

const main = async () => {
  if (Number.parseInt(process.versions.node, 10) < 20) {
    fail(
      `Node 20 or later is needed, and this is ${process.version}.`,
      "Install a newer one and run the command again."
    )
  }
  const lock = fingerprint()
  if (installed() !== lock) await install(lock)
  process.env.PATH = bin + delimiter + process.env.PATH
  const [command, ...args] = process.argv.slice(2)
  const code = await run(command, args, { cwd: root, stdio: "inherit" }).catch((error) =>
    fail(
      `${command} could not be started (${error.code}).`,
      "Remove the folder node_modules and run the command again."
    )
  )
  process.exit(code)
}

/** A hash of everything that node_modules depends on: the lockfile, and the platform that its binaries are for. */
const fingerprint = () =>
  createHash("sha256")
    .update(readFileSync(join(root, "pnpm-lock.yaml")))
    .update(`${process.platform}-${process.arch}`)
    .digest("hex")

const installed = () => existsSync(join(bin, "node")) && existsSync(stamp) ? readFileSync(stamp, "utf8") : undefined

const install = async (lock) => {
  const { pnpm } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).devDependencies
  console.error(`Installing the dependencies with pnpm ${pnpm}, once. This needs the network and about half a minute.`)
  const code = await run("npx", ["-y", `pnpm@${pnpm}`, "install", "--frozen-lockfile"], {
    cwd: root,
    env: {
      ...process.env,
      // Or pnpm asks before it replaces a node_modules that something else has made.
      CI: "true",
      npm_config_fetch_retry_mintimeout: "1000",
      npm_config_fetch_retry_maxtimeout: "5000",
      npm_config_update_notifier: "false"
    },
    // Standard output belongs to the command.
    stdio: ["ignore", 2, 2]
  }).catch((error) =>
    fail(`npx could not be started (${error.code}).`, "It comes with npm: install npm and run the command again.")
  )
  if (code > 128) process.exit(code)
  if (code !== 0) {
    fail(
      "The dependencies could not be installed; the reason is printed above.",
      "Check that this machine reaches the npm registry, directly or through a proxy, and run the command again."
    )
  }
  if (!existsSync(join(bin, "node"))) {
    fail(
      "The dependencies are installed, except for Node itself, which is one of them.",
      "Remove the folder node_modules and run the command again."
    )
  }
  writeFileSync(stamp, lock)
}

/** Runs a command and returns its exit code; a signal's is 128 and its number, as in a shell. */
const run = (command, args, options) =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, shell: process.platform === "win32" })
    child.on("error", reject)
    child.on("exit", (code, signal) => resolve(code ?? 128 + constants.signals[signal]))
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
      process.on(signal, () => {
        // Ctrl-C in a terminal reaches the child too, and a second SIGINT would cut its clean-up short.
        if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal)
      })
    }
  })

const fail = (what, remedy) => {
  console.error(`${what}\n${remedy}`)
  process.exit(1)
}

await main()
