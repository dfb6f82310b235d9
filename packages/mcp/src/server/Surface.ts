/** Resources, prompts and completions: what a user picks in a host. A resource is what a tool reads, and goes the tool's way. */
import * as McpSchema from "effect/ai/McpSchema"
import * as McpServer from "effect/ai/McpServer"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Files from "../session/Files.ts"
import * as Session from "../session/Session.ts"
import type { Tool } from "../session/Tool.ts"
import * as Jobs from "../tools/Jobs.ts"
import * as Lists from "../tools/Lists.ts"
import * as ReadPosts from "../tools/ReadPosts.ts"
import * as ReadUser from "../tools/ReadUser.ts"
import * as Prompts from "./Prompts.ts"

/** Values that complete an input, from what this session has seen: a completion sends no request. */
type Complete = (input: string, session: Session.Session["Service"]) => Iterable<string>

/** A kind of resources. */
interface Kind {
  readonly tool: Tool
  readonly title: string
  readonly description: string
  /** Its address up to the last part, which is `parameter`. */
  readonly base: string
  readonly parameter: string
  readonly inputOf: (value: string) => Readonly<Record<string, unknown>>
  readonly complete: Complete
}

const handles: Complete = (input, { userIds }) => {
  const start = input.replace(/^@/, "").toLowerCase()
  return [...userIds.keys()].filter((handle) => handle !== "" && handle.startsWith(start))
}

const files: Kind = {
  tool: Jobs.tool,
  title: "File",
  description: "A file that this session has written: a summary and its first rows.",
  base: Files.uriOf(""),
  parameter: "name",
  inputOf: (file) => ({ file }),
  complete: (input, { written }) => [...written.keys()].filter((name) => name.startsWith(input))
}

const kinds: ReadonlyArray<Kind> = [
  {
    tool: ReadUser.tool,
    title: "User",
    description: "The profile of a user, by handle or id.",
    base: "postwire://users/",
    parameter: "user",
    inputOf: (user) => ({ user }),
    complete: handles
  },
  {
    tool: ReadPosts.tool,
    title: "Post",
    description: "A post, by id.",
    base: "postwire://posts/",
    parameter: "id",
    inputOf: (id) => ({ ids: [id] }),
    complete: () => []
  },
  {
    tool: Lists.tool,
    title: "List",
    description: "A list, by id.",
    base: "postwire://lists/",
    parameter: "id",
    inputOf: (id) => ({ id, show: "list" }),
    // A name may be a stranger's, so only ids are values.
    complete: (input, { lists }) =>
      [...lists].flatMap(([id, name]) => id.startsWith(input) || name.includes(input.toLowerCase()) ? [id] : [])
  }
]

/** Answers a call of a tool. */
export type Answer = (
  tool: Tool,
  given: unknown
) => Effect.Effect<McpSchema.CallToolResult | McpSchema.InputRequired, never, McpSchema.McpRequestContext>

const mimeType = "text/plain"

/** The answer of a tool as the content of a resource. */
const read = (answer: Answer, { inputOf, tool }: Kind, uri: string, value: string) =>
  Effect.flatMap(answer(tool, inputOf(value)), (result) => {
    const text = "content" in result
      ? result.content.map((block) => block.type === "text" ? block.text : "").join("\n")
      : `Refused: the user must allow this first. Call ${tool.name} instead.`
    return "content" in result && result.isError !== true
      ? Effect.succeed(McpSchema.ReadResourceResult.make({ contents: [{ uri, mimeType, text }] }))
      : Effect.fail(new McpSchema.InternalError({ message: text }))
  })

const completion = (complete: Complete, input: string) =>
  Effect.map(Session.Session, (session): McpSchema.CompleteResult => {
    const values = [...complete(input, session)]
    return { completion: { values, total: values.length } }
  }).pipe(Session.ofRequest)

/** Hides the files of other sessions. */
export const visibility = McpServer.visibility(
  Effect.map(
    Effect.context<Session.Session>(),
    (services) => ({ target }: McpServer.MiddlewareOptions) =>
      Effect.map(Session.Session, ({ written }) => written.has(target.slice(files.base.length))).pipe(
        Session.ofRequest,
        Effect.provideContext(services)
      )
  )
)

const annotations = Context.empty()

/** Registers resources and prompts for these tools. Returns a function that lists the files to which an answer links. */
export const register = Effect.fnUntraced(function*(tools: ReadonlyArray<Tool>, answer: Answer) {
  const server = yield* McpServer.McpServer
  const services = yield* Effect.context<Session.Session>()
  const completing = (complete: Complete) => (input: string) =>
    Effect.provideContext(completion(complete, input), services)
  for (const kind of [...kinds.filter(({ tool }) => tools.includes(tool)), files]) {
    const { base, complete, description, parameter, title } = kind
    yield* server.addResourceTemplate({
      template: new McpSchema.ResourceTemplate({
        uriTemplate: `${base}{${parameter}}`,
        name: title.toLowerCase(),
        title,
        description,
        mimeType
      }),
      annotations,
      routerPath: `${base.replace(":", "::")}:0`,
      completions: { [parameter]: completing(complete) },
      handle: (uri, [value = ""]) => read(answer, kind, uri, value)
    })
  }
  const names = tools.map(({ name }) => name)
  for (const { prompt, textOf } of Prompts.of(names)) {
    yield* server.addPrompt({
      prompt: new McpSchema.Prompt(prompt),
      annotations,
      completions: prompt.name === "catch_up" ? { about: completing(mentions) } : {},
      handle: (values) => {
        const missing = prompt.arguments.find(({ name, required }) => required && values[name] === undefined)
        if (missing !== undefined) {
          return Effect.fail(new McpSchema.InvalidParams({ message: `${missing.name}: is required.` }))
        }
        const text = textOf(values, (tool) => names.includes(tool))
        return Effect.succeed(
          new McpSchema.GetPromptResult({ messages: [{ role: "user", content: McpSchema.TextContent.make({ text }) }] })
        )
      }
    })
  }
  return (result: McpSchema.CallToolResult | McpSchema.InputRequired) =>
    Effect.forEach(
      "content" in result ? result.content : [],
      (block) =>
        block.type !== "resource_link" ? Effect.void : server.addResource({
          resource: new McpSchema.Resource({
            uri: block.uri,
            name: block.name,
            mimeType,
            description: files.description
          }),
          annotations,
          services,
          handle: read(answer, files, block.uri, block.name)
        }),
      { discard: true }
    )
})

const mentions: Complete = (input, session) => [...handles(input, session)].map((handle) => `@${handle}`)
