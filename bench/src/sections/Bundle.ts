/** Sizes: of bundles, the files that a program loads as it starts, and packages as installed with all that they bring. */
import { initialBytes } from "../../../scripts/bundleSize.ts"
import * as Checkout from "../Checkout.ts"
import * as Installed from "../Installed.ts"
import * as Rounds from "../Rounds.ts"

const fetching = `export * as FetchHttpClient from "effect/http/FetchHttpClient"`

/** Programs of ours by what they use. */
const programs: Readonly<Record<string, string>> = {
  "one operation": `
    import * as Client from "@postwire/core/client/Client"
    import * as Credentials from "@postwire/core/auth/Credentials"
    import { getPost } from "@postwire/core/operations/Posts"
    import * as Effect from "effect/Effect"
    import * as FetchHttpClient from "effect/http/FetchHttpClient"
    import * as Layer from "effect/Layer"
    const client = Client.layer({ baseUrl: "https://service.test" }).pipe(
      Layer.provide([Credentials.layerBearer("a"), FetchHttpClient.layer])
    )
    Effect.runPromise(Effect.provide(getPost({ id: "1" }), client)).then(({ data }) => console.log(data?.text))
  `,
  "the catalogue": `
    export { catalogue } from "@postwire/core/Catalogue"
    export * as Client from "@postwire/core/client/Client"
    ${fetching}
  `,
  "all of core": `export * from "@postwire/core"; ${fetching}`,
  "web client": `
    import { createClient } from "@postwire/web"
    globalThis.client = createClient({ baseUrl: "https://service.example", bearerToken: "a" })
  `,
  "Effect, Schema, fetch": `
    import * as Effect from "effect/Effect"
    import * as FetchHttpClient from "effect/http/FetchHttpClient"
    import * as HttpClient from "effect/http/HttpClient"
    import * as Schema from "effect/Schema"
    const decode = Schema.decodeUnknownEffect(Schema.Struct({ id: Schema.String }))
    const program = Effect.flatMap(HttpClient.get("https://service.test"), ({ json }) => Effect.flatMap(json, decode))
    Effect.runPromise(Effect.provide(program, FetchHttpClient.layer)).then(({ id }) => console.log(id))
  `
}

/** Those of others, which a browser could not all run. */
const peers: Readonly<Record<string, string>> = {
  "twitter-api-v2": `import { TwitterApi } from "twitter-api-v2"; globalThis.client = new TwitterApi("a")`,
  openai: `import OpenAI from "openai"; globalThis.client = new OpenAI({ apiKey: "a" })`
}

const bundled = async (folder: string, contents: string, platform: "browser" | "node"): Promise<number> =>
  await initialBytes(folder, contents, platform) / 1e3

const run = async (bench: Rounds.Bench): Promise<void> => {
  bench.say("bundle: packing and installing", 0)
  const folder = await Installed.folderOf(Checkout.own)
  const before = bench.before === undefined ? undefined : await Installed.folderOf(bench.before.folder)
  /** Rows for what has the same figure in every round. */
  const add = async (
    scenario: string,
    peers: ReadonlyArray<string>,
    contenders: ReadonlyArray<string>,
    size: (folder: string, name: string) => Promise<number> | number
  ) => {
    const [peer = 1] = await Promise.all(peers.slice(0, 1).map((name) => size(folder, name)))
    const exact = (value: number) => ({ median: value, low: value, high: value })
    for (const contender of [...peers, ...contenders]) {
      bench.say(`bundle: ${contender}`, 0.5)
      const value = await size(folder, contender)
      const earlier = before === undefined || peers.includes(contender) ? undefined : await size(before, contender)
      bench.add({
        section: "bundle",
        scenario,
        contender,
        metric: "size",
        unit: Rounds.unitOf("size"),
        value: exact(value),
        rounds: 1,
        ...(contender === peers[0] ? {} : { ratio: { to: peers[0]!, ...exact(value / peer) } }),
        ...(earlier === undefined ? {} : { before: exact(value / earlier) })
      })
    }
  }
  await add(
    "bundle, minified and gzip",
    Object.keys(peers),
    Object.keys(programs),
    (at, name) => name in peers ? bundled(at, peers[name]!, "node") : bundled(at, programs[name]!, "browser")
  )
  await add(
    "installed, with what it brings",
    Object.keys(peers),
    ["@postwire/node", "@postwire/sync", "@postwire/web", "@postwire/cli"],
    (at, name) => Installed.sizeOf(at, name) / 1e3
  )
}

export const section: Rounds.Section = { name: "bundle", seconds: 4, fullSeconds: 20, run }
