// The blocking client refuses and reaches what the awaited one does in the same program.
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Node from "@postwire/node"
import { spawn } from "node:child_process"
import { setDefaultResultOrder } from "node:dns"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import * as Net from "node:net"
import tls from "node:tls"
import { fileURLToPath } from "node:url"
import * as Sync from "../src/index.ts"
import * as NetworkDefaults from "../src/internal/networkDefaults.ts"
import { start, stop } from "./support/Children.ts"

const fixture = (name: string) => fileURLToPath(new URL(`../../node/test/fixtures/tls/${name}.pem`, import.meta.url))
const pem = (name: string) => readFileSync(fixture(name), "utf8")

// It speaks TLS up to 1.2. The headers of post 2 are longer than Node accepts by default.
const server = `
  import { readFileSync } from "node:fs"
  import { createServer } from "node:https"
  const [key, cert] = process.argv.slice(1).map((file) => readFileSync(file))
  const server = createServer({ key, cert, maxVersion: "TLSv1.2" }, ({ url }, response) => {
    if (url.includes("/2?") || url.endsWith("/2")) response.setHeader("x-long", "a".repeat(20_000))
    response.end('{"data":{"id":"1","text":"a"}}')
  })
  server.listen(0, "127.0.0.1", () => console.log(server.address().port))
`

let running: Awaited<ReturnType<typeof start<number>>>
let settings: { readonly baseUrl: string; readonly bearerToken: string; readonly retries: number }

beforeAll(async () => {
  running = await start<number>(["--input-type=module", "-e", server, fixture("key"), fixture("self-signed")])
  settings = { baseUrl: `https://127.0.0.1:${running.ready}`, bearerToken: "a", retries: 0 }
})

afterAll(() => stop(running?.child))

/** Without the number of the thread that OpenSSL begins with. */
const wordsOf = ({ message }: Error): string => message.replace(/[0-9A-F]{12,}:/, "")

const blocking = (settings: Sync.Settings): string => {
  using client = Sync.createClientSync({ ...settings, ownWorker: true })
  try {
    return client.getPost({ id: "1" }).data!.id
  } catch (error) {
    return wordsOf(error as Error)
  }
}

const awaited = async (settings: Node.Settings): Promise<string> => {
  await using client = Node.createClient(settings)
  return await client.getPost({ id: "1" }).then(({ data }) => data!.id, (error: Error) => wordsOf(error))
}

describe("defaults that the program set", () => {
  it("hold for the blocking client: versions of TLS", async () => {
    const trusting = { ...settings, ca: pem("self-signed") }
    assert.strictEqual(blocking(trusting), "1")
    const { DEFAULT_MIN_VERSION } = tls
    tls.DEFAULT_MIN_VERSION = "TLSv1.3"
    try {
      assert.match(blocking(trusting), /tlsv1 alert protocol version|ERR_SSL|EPROTO/i)
      assert.strictEqual(blocking(trusting), await awaited(trusting))
    } finally {
      tls.DEFAULT_MIN_VERSION = DEFAULT_MIN_VERSION
    }
  })

  it("hold for the blocking client: authorities", async () => {
    const known = tls.getCACertificates("default")
    tls.setDefaultCACertificates([...known, pem("self-signed")])
    try {
      assert.strictEqual(blocking(settings), "1")
      tls.setDefaultCACertificates([])
      assert.match(blocking(settings), /self.signed certificate/)
      assert.strictEqual(blocking(settings), await awaited(settings))
    } finally {
      tls.setDefaultCACertificates(known)
    }
  })

  it("are read and applied as a whole", () => {
    const before = NetworkDefaults.read({ secure: true })
    const changed: NetworkDefaults.NetworkDefaults = {
      lookupOrder: "ipv4first",
      autoSelectFamily: !before.autoSelectFamily,
      autoSelectFamilyTimeout: 777,
      tls: {
        ...before.tls!,
        DEFAULT_MAX_VERSION: "TLSv1.2",
        DEFAULT_CIPHERS: "AES256-SHA",
        DEFAULT_ECDH_CURVE: "P-256"
      }
    }
    NetworkDefaults.apply(changed)
    try {
      assert.deepStrictEqual(NetworkDefaults.read({ secure: true }), changed)
    } finally {
      NetworkDefaults.apply(before)
    }
    assert.deepStrictEqual(NetworkDefaults.read({ secure: false }), { ...before, tls: undefined })
    setDefaultResultOrder("verbatim")
    assert.strictEqual(Net.getDefaultAutoSelectFamily(), before.autoSelectFamily)
  })
})

describe("flags", () => {
  it("go to the worker where they are about connections and warnings, each with its value", () => {
    const flagsFrom = (flags: string) => NetworkDefaults.flagsFrom(flags.split(" ")).join(" ")
    assert.strictEqual(
      flagsFrom(
        "--use_system_ca --expose-gc --max-http-header-size 20000 --import ./a.js --tls-keylog=k --disable-warning=A " +
          "--input-type=module --tls-cipher-list=A --no-warnings -e --trace-tls-not-quite --disable-warning"
      ),
      "--use_system_ca --max-http-header-size 20000 --tls-keylog=k --disable-warning=A --no-warnings --disable-warning"
    )
  })

  const program = `
    const { createClient } = await import(${JSON.stringify(import.meta.resolve("@postwire/node"))})
    const { createClientSync } = await import(${JSON.stringify(new URL("../src/index.ts", import.meta.url))})
    const settings = ${"SETTINGS"}
    const [blocking, awaited] = [createClientSync(settings), createClient(settings)]
    for (const id of ["1", "2"]) {
      const result = (call) => call().then(({ data }) => data.id, ({ message }) => message.replace(/[0-9A-F]{12,}:/, ""))
      const mine = await result(async () => blocking.getPost({ id }))
      const theirs = await result(() => awaited.getPost({ id }))
      console.log(mine === theirs, mine)
    }
    process.exit()
  `

  /** The output of a program that makes the same calls on both clients. */
  const run = async (flags: ReadonlyArray<string>, environment: Readonly<Record<string, string>>): Promise<string> => {
    const code = program.replace("SETTINGS", JSON.stringify(settings))
    const child = spawn(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", ...flags, "--input-type=module", "-e", code],
      { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, ...environment } }
    )
    let printed = ""
    child.stdout.setEncoding("utf8").on("data", (text) => printed += text)
    await once(child, "close")
    return printed
  }

  it("of the command line and of NODE_OPTIONS hold for the blocking client as for the awaited one", async () => {
    const trusted = { SSL_CERT_FILE: fixture("self-signed") }
    const unlike = [
      "--title=a",
      "--stack-trace-limit=20",
      "--expose-gc",
      "--tls-cipher-list=ECDHE-ECDSA-AES128-GCM-SHA256"
    ]
    const [plain, long, strict, strictOptions] = await Promise.all([
      run([], trusted),
      run(["--use-system-ca", "--max-http-header-size", "40000", ...unlike], trusted),
      run(["--use-system-ca", "--tls-min-v1.3"], trusted),
      run([], { ...trusted, NODE_OPTIONS: "--use-system-ca --tls-min-v1.3 --stack-trace-limit=20" })
    ])
    assert.match(plain, /^true .*self-signed certificate.*\ntrue .*self-signed certificate.*\n$/)
    assert.strictEqual(long, "true 1\ntrue 1\n")
    assert.match(strict, /^true .*protocol version[^]*\ntrue .*protocol version/)
    assert.strictEqual(strictOptions, strict)
  })
})
