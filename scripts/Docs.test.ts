import { assert, describe, it } from "@effect/vitest"
import { registerSchema, type SchemaObject, validate } from "@hyperjump/json-schema/openapi-3-1"
import { Context, Effect, Layer, Redacted } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { spawnSync } from "node:child_process"
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { posix } from "node:path"
import { parameters } from "../examples/reference/parameters.ts"
import { methods, nameOf } from "../packages/cli/src/migrate/Methods.ts"
import { aliases, catalogue } from "../packages/core/src/Catalogue.ts"
import * as Errors from "../packages/core/src/errors/Errors.ts"
import * as Settings from "../packages/core/src/promise/Settings.ts"
import { parametersOf } from "../packages/core/src/schema/Definition.ts"
import { eventTypes } from "../packages/core/src/schema/models/Activity.ts"
import * as RequestEncoder from "../packages/core/src/wire/RequestEncoder.ts"
import * as Wire from "../packages/core/src/wire/Wire.ts"
import * as Admin from "../packages/sandbox/src/admin/Admin.ts"
import * as Faults from "../packages/sandbox/src/faults/Faults.ts"
import * as Sandbox from "../packages/sandbox/src/Sandbox.ts"
import { built, committed, documents, stale } from "./docs.ts"
import * as Blocks from "./docs/Blocks.ts"
import * as ErrorDocs from "./docs/ErrorDocs.ts"
import { modulesOf } from "./docs/ExportedErrors.ts"
import * as Moving from "./docs/Moving.ts"
import * as Rooms from "./docs/Rooms.ts"
import { documented } from "./docs/Source.ts"

const root = new URL("..", import.meta.url)
/** The files that the build writes and git ignores. */
const reference = built()
const text = (file: string) => reference.get(file) ?? readFileSync(new URL(file, root), "utf8")

/** The names of the built pages below a folder. */
const globPages = (folder: string) =>
  [...reference.keys()].filter((file) => file.startsWith(folder)).map((file) => posix.basename(file, ".md"))

describe("documentation", () => {
  const files = committed()

  it("is as it is generated (pnpm run docs brings it up to date)", () => {
    assert.deepStrictEqual(stale(files), [])
  })

  /** A page without what comes from elsewhere. */
  const emptied = (page: string) =>
    page
      .replace(Blocks.program, (block) => block.replace(/\n(`{3,})(\w+)\n[^]*/, "\n$1$2\n$1"))
      .replace(Blocks.made, (_, name: string) => `<!-- generated: ${name} -->\n<!-- end -->`)
      .replaceAll(Blocks.required, "1.0 or newer")

  const pages = globSync(["*.md", "{docs,consumers,examples,site}/**/*.md"], {
    cwd: root,
    exclude: ["**/node_modules", "docs/{adr,errors,reference}"]
  }).filter((file) => emptied(text(file)) !== text(file))

  it.each(pages)("the blocks of %s are made of what they come from", (page) => {
    assert.strictEqual(Blocks.current(emptied(text(page))), text(page))
    assert.include(documents, page)
  })

  it.each(["createCommunityNote", "evaluateCommunityNote"])(
    "has the name of a member that %s sends on every wire",
    (name) => {
      assert.match(text(`docs/reference/${name}.md`), /`post_id` \(required\).* body `post_id` *\|/)
    }
  )

  it("names the Node version that is needed, and leaves that of the compiler alone", () => {
    assert.match(
      Blocks.current("Node 1.0 or newer, TypeScript 5.9 or newer"),
      /^Node (?!1\.0)\S+ or newer, TypeScript 5\.9 or newer$/
    )
  })

  it("is stale when a file is missing or changed", () => {
    assert.deepStrictEqual(stale(new Map(files).set("docs/new.md", "").set("README.md", "")), [
      "README.md",
      "docs/new.md"
    ])
  })

  it("the README's programs are the examples that run in CI", () => {
    const readme = text("README.md")
    const files = [...readme.matchAll(/<!-- from (\S+) -->/g)].map((match) => match[1])
    assert.deepStrictEqual(files, [
      "examples/promise.ts",
      "examples/blocking.ts",
      "examples/effect.ts",
      "examples/guides/streams.ts#follow"
    ])
    assert.strictEqual([...readme.matchAll(/^`{3,}ts/gm)].length, files.length)
  })

  it("the programs of the sandbox's page are the examples that run in CI", () => {
    const page = text("docs/sandbox.md")
    const files = [...page.matchAll(/<!-- from (\S+) -->/g)].map((match) => match[1]!)
    assert.sameMembers(files, readdirSync(new URL("examples/sandbox", root)).map((file) => `examples/sandbox/${file}`))
    assert.strictEqual([...page.matchAll(/^`{3,}(ts|sh|py)/gm)].length, files.length)
  })

  it("the sandbox's page names every part of a fault and of a rule", () => {
    const page = text("docs/sandbox.md")
    for (const field of Object.keys(Faults.Rule.fields)) assert.include(page, `| \`${field}`)
    for (const call of Admin.calls) assert.include(page, `| \`${call}\` |`)
  })
})

describe("the guides", () => {
  it.each(globSync("docs/{*,tutorials/*}.md", { cwd: root }))("every program in %s is one that is compiled", (file) => {
    const page = text(file)
    const blocks = [...page.matchAll(Blocks.program)]
    assert.strictEqual(page.match(/^<!-- from /gm)?.length ?? 0, blocks.length)
    assert.strictEqual(
      page.match(/^`{3,}ts\b/gm)?.length ?? 0,
      blocks.filter(([, , language]) => language === "ts").length
    )
    assert.strictEqual(page.match(/^<!-- generated: /gm)?.length ?? 0, [...page.matchAll(Blocks.made)].length)
  })

  it("have a section for each error, with its cause and fix", () => {
    const page = text("docs/errors.md")
    const classes = Object.values(Errors).flatMap((member) =>
      typeof member === "function" && member.prototype instanceof Error ? [member.name] : []
    )
    assert.sameMembers([...ErrorDocs.tags], classes)
    for (const tag of classes) {
      const [, section = ""] = new RegExp(`^## ${tag}\\n([^]*?)(?=^## )`, "m").exec(page) ?? []
      assert.include(section, `<!-- generated: error ${tag} -->`)
      assert.match(section, /^\*\*Cause\.\*\* \S[^]*^\*\*Fix\.\*\* \S/m, tag)
      assert.include(page, `](#${tag.toLowerCase()})`)
    }
  })

  it("have a page for each error that a module of a package exports, by its name", () => {
    const modules = readdirSync(new URL("packages", root)).flatMap((folder) => [...modulesOf(folder).keys()])
      // Programs that begin when they are imported.
      .filter((file) => !/\/bin\/|Worker\.ts$/.test(file)).map((file) => new URL(file, root).href)
    assert.isAbove(modules.length, 300)
    const program = `
      const isError = (value) => typeof value === "function" && value.prototype instanceof Error
      for (const module of ${JSON.stringify(modules)}) {
        for (const value of Object.values(await import(module))) if (isError(value)) console.log(value.name)
      }
      process.exit()`
    const { stderr, stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
      encoding: "utf8"
    })
    const names = new Set(stdout.trim().split("\n"))
    assert.isAbove(names.size, 70, stderr)
    const pages = globPages("docs/errors/")
    assert.sameMembers(pages, [...names])
    for (const name of names) {
      const page = text(`docs/errors/${name}.md`)
      assert.match(page, RegExp(`^# ${name}\\n\\n[A-Z0-9]`, "m"))
      assert.match(page, RegExp(`^import \\{ ${name} \\} from "@postwire/`, "m"))
      assert.match(page, /^```text\n\S/m)
      assert.notMatch(page.replaceAll(/`[^`\n]+`/g, ""), /undefined|\[object|Schema\./)
    }
  }, 60_000)

  it.each(["docs/from-tweepy.md", "docs/from-twitter-api-v2.md"])(
    "%s has a row for each operation that is there as well",
    (file) => {
      const page = text(file)
      const before = file === "docs/from-tweepy.md" ? Moving.tweepyCalls : Moving.twitterApiV2Calls
      for (const { definition: { name } } of documented) {
        if (before(name as keyof typeof Moving.calls).length === 0) continue
        assert.match(page, new RegExp(`^\\| \`.+ \\| \\[\`${name}\\(.*\`\\]\\(reference/${name}\\.md\\) \\|$`, "m"))
      }
    }
  )

  it("name methods that twitter-api-v2 has", () => {
    const { TwitterApiv2 } = createRequire(new URL("bench/package.json", root))("twitter-api-v2")
    for (const method of methods) {
      assert.isFunction(TwitterApiv2.prototype[nameOf(method)], method[0])
    }
  })

  it("name methods that tweepy has, and all but those for which there is no operation", ({ skip }) => {
    const program = "import tweepy; print(*[name for name in dir(tweepy.Client) if not name.startswith('_')], " +
      "*['StreamingClient.' + name for name in dir(tweepy.StreamingClient) if not name.startswith('_')])"
    const { status, stdout } = spawnSync("/usr/bin/python3", ["-c", program], { encoding: "utf8" })
    if (status !== 0) skip("tweepy is not there")
    const has = stdout.trim().split(" ")
    const named = Object.values(Moving.calls).flat().map((call) => call.split("(")[0]!)
    assert.includeMembers(has, named)
    const rest = has.filter((name) => !named.includes(name))
    assert.isEmpty(rest.filter((name) => !/list|compliance|(^|\.)request$|\.(on_|disconnect$)/.test(name)))
  })

  it("link every example", () => {
    const page = text("docs/recipes.md")
    const examples = globSync("examples/{*,app/*,sandbox/*,web/*}.{ts,sh}", { cwd: root })
    assert.isAbove(examples.length, 15)
    for (const file of examples) {
      assert.isTrue(page.includes(`](../${file})`) || page.includes(`<!-- from ${file} -->`), file)
    }
  })

  it("say every setting", () => {
    const page = text("docs/reference/settings.md")
    for (const name of Settings.names) assert.include(page, `| \`${name}\` |`)
  })
})

describe("the charts of proofs", () => {
  const charts = [...reference].filter(([file]) => file.includes("/proof-"))

  it("are drawn for each result that has some, for a desk and for a phone", () => {
    assert.isAbove(charts.length, 2)
    const wide = charts.map(([file]) => file).filter((file) => !file.includes("-narrow"))
    assert.sameMembers(charts.map(([file]) => file), [
      ...wide,
      ...wide.map((file) => file.replace(".svg", "-narrow.svg"))
    ])
    for (const file of wide) assert.include(text("docs/proof.md"), `](${file.replace("docs/", "")})`)
  })

  it.each(charts)("%s has words that are inside and apart", (_, chart) => {
    const [, width = ""] = /viewBox="0 0 (\d+) /.exec(chart) ?? []
    const words = Array.from(
      chart.matchAll(/<text class="(\w+)" x="(\d+)" y="(\d+)">([^<]+)</g),
      ([, kind, x, y, said]) => ({
        kind,
        left: Number(x),
        right: Number(x) + (kind === "mark" ? 3 : 6) * said!.length,
        y: Number(y)
      })
    )
    for (const [i, one] of words.entries()) {
      assert.isAtMost(one.right, Number(width))
      for (const other of words.slice(i + 1).filter(({ kind }) => kind !== "mark" && one.kind !== "mark")) {
        assert.isFalse(Math.abs(one.y - other.y) < 12 && one.left < other.right && other.left < one.right)
      }
    }
  })

  it.each(charts)("%s has lines that are not filled, light or dark", (_, chart) => {
    const [light = "", dark = ""] = chart.split("@media (prefers-color-scheme: dark)")
    for (const style of [light, dark]) assert.match(style, /\.before [^]*\.line\b[^{]*\{ fill: none \}/)
  })
})

describe("architecture", () => {
  const names = (text: string) => Array.from(text.matchAll(/[\w-]+/g), ([name]) => name)

  it("names every room, in the page and in CONTRIBUTING", () => {
    const table = Array.from(text("docs/architecture.md").matchAll(/^\| `([\w-]+)` \|/gm), ([, name]) => name)
    assert.sameMembers(table, [...Rooms.rooms])
    const [, drawing = ""] = /^## The rooms\n[^]*?^```\n([^]*?)^```$/m.exec(text("CONTRIBUTING.md")) ?? []
    assert.sameMembers(names(drawing), [...Rooms.rooms])
  })

  it("draws every room", () => {
    for (const room of Rooms.rooms) assert.include(text("docs/pictures/rooms.svg"), `>${room}</text>`)
  })
})

describe("reference", () => {
  const folder = "docs/reference"
  const index = text(`${folder}/README.md`)
  const pages = [...reference.keys()].filter((file) => file.startsWith(folder)).map((file) =>
    file.slice(folder.length + 1)
  )

  it.each(Object.keys(catalogue))("has %s in its index and on a page", (name) => {
    const operation = name in aliases ? aliases[name as keyof typeof aliases] : name
    assert.include(index, `\`${name}\``)
    assert.include(index, `](${operation}.md)`)
    assert.include(text(`${folder}/${operation}.md`), name === operation ? `# ${name}\n` : `\`${name}\``)
  })

  it("lists every type of event with its price, and leads there from where one is chosen", () => {
    const page = text(`${folder}/streamActivity.md`)
    for (const type of eventTypes) {
      assert.match(page, new RegExp(`\`${type.replaceAll(".", "\\.")}\` \\| (free|\\$0\\.\\d{3})`), type)
    }
    for (const name of ["createActivitySubscription", "getActivitySubscriptions"]) {
      assert.notInclude(text(`${folder}/${name}.md`), `"post.delete"`)
    }
    assert.match(
      text(`${folder}/createActivitySubscription.md`),
      /^\| `event_type` \(required\) .*\(streamActivity\.md#events\)/m
    )
  })

  it("marks the deprecated names", () => {
    assert.deepStrictEqual(
      documented.flatMap(({ aliases }) => aliases.filter(({ deprecated }) => deprecated).map(({ name }) => name)),
      ["follow", "unfollow"]
    )
    assert.include(index, "~~`follow`~~ (deprecated)")
  })

  it.each(documented.map(({ definition }) => [definition.name, definition] as const))(
    "names every parameter of %s",
    (name, definition) => {
      const page = text(`${folder}/${name}.md`)
      const parameters = [
        ...Object.keys(parametersOf(definition)),
        ...(definition.userAuth === undefined ? [] : ["user_auth"])
      ]
      const rows = [...page.matchAll(/^\| `(\w+)`(?: \(required\))? \| `.+` \| .+ \| (?:path|query|body|header) /gm)]
      assert.deepStrictEqual(rows.map((row) => row[1]), parameters)
    }
  )

  it.each(pages)("%s says something everywhere", (page) => {
    const lines = text(`${folder}/${page}`).split("\n")
    assert.notMatch(lines.join("\n").replaceAll("`undefined`", ""), /undefined|\[object|NaN|\n\n\n|^(?:-|#+) *$/m)
    lines.forEach((line, i) => {
      if (line.startsWith("| ---")) assert.match(lines[i + 1] ?? "", /^\| \S/)
      if (line.startsWith("#")) assert.match(lines.slice(i + 1).join("\n"), /^\n[^#\n]|^\n### /)
    })
  })

  it.each(pages)("the links of %s lead somewhere", (page) => {
    for (const [, target = "", anchor] of text(`${folder}/${page}`).matchAll(/\]\(([^)#]*)(?:#([^)]+))?\)/g)) {
      const file = target === "" ? `${folder}/${page}` : `${folder}/${target}`
      assert.isTrue(reference.has(posix.normalize(file)) || existsSync(new URL(file, root)), file)
      if (anchor !== undefined) {
        assert.include(text(posix.normalize(file)).toLowerCase().replaceAll(/(?<=\w) (?=\w)/g, "-"), `# ${anchor}\n`)
      }
    }
  })
})

interface Parameter {
  readonly $ref?: string
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema: { readonly type?: string }
}

interface Endpoint {
  readonly operationId: string
  readonly "x-operations": ReadonlyArray<string>
  readonly parameters?: ReadonlyArray<Parameter>
  readonly requestBody?: object
  readonly responses: Readonly<Record<string, object>>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Endpoint>>>>
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> }
}

const pointer = (...steps: ReadonlyArray<string | number>) =>
  `#${steps.map((step) => `/${encodeURIComponent(String(step).replaceAll("~", "~0").replaceAll("/", "~1"))}`).join("")}`

describe.each(Wire.names)("the OpenAPI document of the %s wire", (wire) => {
  const document: Document & SchemaObject = JSON.parse(text(`docs/openapi/${wire}.json`))
  const uri = `https://postwire.test/${wire}`
  const dialect = "https://spec.openapis.org/oas/3.1/dialect/base"
  registerSchema(document, uri, dialect)
  // Answers may hold fields that the document does not know; those of the sandbox do not.
  const closed = text(`docs/openapi/${wire}.json`)
    .replaceAll(`"type": "object"`, `"type": "object", "unevaluatedProperties": false`)
  registerSchema(JSON.parse(closed), `${uri}/closed`, dialect)

  const endpoints = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, endpoint]) => ({ path, method, endpoint }))
  )

  /** The endpoint of a request; a literal path goes before a template. */
  const endpointOf = (method: string, path: string) => {
    const matching = endpoints
      .filter((endpoint) => endpoint.method === method.toLowerCase())
      .filter((endpoint) => RegExp(`^${endpoint.path.replace(/\{\w+\}/g, "[^/]+")}$`).test(path))
      .sort((a, b) => a.path.split("{").length - b.path.split("{").length)
    return matching[0] ?? assert.fail(`${method} ${path} is not in the document`)
  }

  const accepts = async (schema: string, value: unknown) => {
    // What was parsed from JSON is JSON.
    const output = await validate(`${uri}${schema}`, value as never, "BASIC")
    assert.isTrue(output.valid, `${schema} ${JSON.stringify(value)}: ${JSON.stringify(output)}`)
  }

  it("is accepted by a validator, schemas included", async () => {
    const specification = "https://spec.openapis.org/oas/3.1/schema-base"
    const output = await validate(specification, document as never, "BASIC")
    assert.isTrue(output.valid, JSON.stringify(output))
    const broken = JSON.parse(text(`docs/openapi/${wire}.json`).replace("\"type\": \"array\"", "\"type\": \"list\""))
    assert.isFalse((await validate(specification, broken)).valid)
  })

  it("has every operation once, and the path parameters of each", () => {
    const names = endpoints.flatMap(({ endpoint }) => endpoint["x-operations"])
    assert.sameMembers([...new Set(names)], documented.map(({ definition }) => definition.name))
    const ids = endpoints.map(({ endpoint }) => endpoint.operationId)
    assert.deepStrictEqual([...new Set(ids)], ids)
    for (const { endpoint: { parameters = [] }, path } of endpoints) {
      const declared = parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name)
      assert.sameMembers(declared, Array.from(path.matchAll(/\{(\w+)\}/g), (match) => match[1]!))
    }
  })

  it("refers to what it holds", () => {
    for (const [, ref = ""] of text(`docs/openapi/${wire}.json`).matchAll(/"\$ref": "#\/([^"]+)"/g)) {
      let node: unknown = document
      for (const step of ref.split("/")) node = (node as Readonly<Record<string, unknown>> | undefined)?.[step]
      assert.isDefined(node, ref)
    }
  })

  it.each(Object.entries(parameters))("describes the request of %s", async (name, parameters) => {
    const { definition } = catalogue[name as keyof typeof catalogue]
    const request = RequestEncoder.encode(definition, parameters, Wire.named[wire])
    if (request instanceof Error) throw request
    const at = request.identityAt ?? 0
    const path = request.identityAt === undefined
      ? request.path
      : `${request.path.slice(0, at)}2244994945${request.path.slice(at)}`
    const found = endpointOf(request.method, path)
    assert.include(found.endpoint["x-operations"], name)
    const own = pointer("paths", found.path, found.method)

    const query = new Map(new URLSearchParams(request.query))
    for (const [i, given] of (found.endpoint.parameters ?? []).entries()) {
      const key = given.$ref?.split("/").at(-1)
      const parameter = key === undefined ? given : document.components.parameters[key]!
      const schema = key === undefined
        ? `${own}/parameters/${i}/schema`
        : pointer("components", "parameters", key, "schema")
      const value = parameter.in === "query"
        ? query.get(parameter.name)
        : path.split("/")[found.path.split("/").indexOf(`{${parameter.name}}`)]
      query.delete(parameter.name)
      if (value === undefined) {
        assert.notStrictEqual(parameter.required, true, parameter.name)
        continue
      }
      const { type } = parameter.schema
      const read = type === "integer" || type === "boolean" ? JSON.parse(value) : value
      await accepts(schema, type === "array" ? value.split(",") : read)
    }
    assert.deepStrictEqual([...query.keys()], [])

    assert.strictEqual(request.body !== undefined, found.endpoint.requestBody !== undefined)
    const { body } = request
    const schemaOf = (type: string) => `${own}/requestBody/content/${encodeURIComponent(type)}/schema`
    if (typeof body === "string") await accepts(schemaOf("application~1json"), JSON.parse(body))
    if (typeof body === "object") {
      // Each part is read as its schema says.
      const members = body.parts.map(({ name }) => {
        const value = (parameters as Readonly<Record<string, unknown>>)[name]
        return [name, value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value]
      })
      await accepts(schemaOf("multipart~1form-data"), Object.fromEntries(members))
    }
  })

  it("refuses bodies that break a rule across parameters", async () => {
    const { method, path } = endpointOf("POST", wire === "neutral" ? "/2/posts" : "/2/tweets")
    const schema = pointer("paths", path, method, "requestBody", "content", "application/json", "schema")
    await accepts(schema, { text: "a", poll: { options: ["a", "b"], duration_minutes: 5 } })
    await accepts(schema, { media: { media_ids: ["1"], tagged_user_ids: ["2"] } })
    for (
      const body of [
        {},
        { text: "a", poll: { options: ["a", "b"] } },
        { text: "a", media: { tagged_user_ids: ["2"] } },
        { text: "a", media: { media_ids: [] } }
      ]
    ) assert.isFalse((await validate(`${uri}${schema}`, body)).valid, JSON.stringify(body))
  })

  it.effect("describes the answers of the sandbox", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.UTC(2026, 10, 20, 12))
      const context = yield* Layer.build(Sandbox.layer({ posts: 60, wire }))
      const http = Context.get(context, HttpClient.HttpClient)
      const { baseUrl, seeded: { ada, userBearerToken } } = Context.get(context, Sandbox.Sandbox)
      const posts = wire === "neutral" ? "posts" : "tweets"
      const post = wire === "x-2026-02" ? "tweet" : "post"
      const users = "user.fields=created_at,public_metrics,entities,verified_type"
      const everything = `expansions=author_id,attachments.media_keys,attachments.poll_ids,geo.place_id&` +
        `media.fields=width,type&poll.fields=voting_status&place.fields=geo&${users}&` +
        `${post}.fields=public_metrics,entities,attachments,withheld,edit_controls`
      for (
        const [expected, path] of [
          ["200", `/2/users/by/username/ada?${users}`],
          ["200", `/2/users/${ada.id}/${posts}?max_results=100&${everything}`],
          ["200", `/2/${posts}/search/recent?query=effect&max_results=100&${everything}`],
          ["200", `/2/${posts}/1?${everything}`],
          ["200", `/2/dm_events?expansions=sender_id&dm_event.fields=created_at,dm_conversation_id`],
          ["default", `/2/${posts}/search/recent?query=effect&max_results=5`]
        ] as const
      ) {
        const response = yield* http.get(`${baseUrl}${path}`, {
          headers: { authorization: `Bearer ${Redacted.value(userBearerToken)}` }
        })
        assert.strictEqual(response.status === 200 ? "200" : "default", expected, path)
        const body = yield* response.json
        const found = endpointOf("GET", path.split("?")[0]!)
        yield* Effect.promise(() =>
          accepts(
            expected === "200"
              ? `/closed${
                pointer("paths", found.path, "get", "responses", 200, "content", "application/json", "schema")
              }`
              : pointer("components", "schemas", "Refusal"),
            body
          )
        )
      }
    }))
})
