/** Resources, prompts and completions: what a user picks in a host. A resource is what a tool reads, and goes the tool's way. */
import * as McpSchema from "effect/ai/McpSchema"
import * as McpServer from "effect/ai/McpServer"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Files from "../session/Files.ts"
import * as Session from "../session/Session.ts"
import type { Tool } from "../session/Tool.ts"
import * as Jobs from "../tools/Jobs.ts"
import * as Reading from "../tools/Reading.ts"
import * as Prompts from "./Prompts.ts"

/** Values that complete an input, from what this session has seen: a completion sends no request. */
type Complete = (input: string, session: Session.Session["Service"]) => Iterable<string>

/** A kind of resources. */
interface Kind {
  readonly tool: Tool
  /** The address with the name of its last part. */
  readonly uri: string
  readonly description: string
  readonly inputOf: (value: string) => Readonly<Record<string, unknown>>
  readonly complete: Complete
}

const handles: Complete = (input, { userIds }) =>
  [...userIds.keys()].filter((handle) => handle !== "" && handle.startsWith(input.replace(/^@/, "").toLowerCase()))

const files: Kind = {
  tool: Jobs.tool,
  uri: Files.uriOf("{name}"),
  description: "A file that this session has written: a summary and its first rows.",
  inputOf: (file) => ({ file }),
  complete: (input, { written }) => [...written.keys()].filter((name) => name.startsWith(input))
}

const kinds: ReadonlyArray<Kind> = [
  {
    tool: Reading.readUser,
    uri: "postwire://users/{user}",
    description: "The profile of a user, by handle or id.",
    inputOf: (user) => ({ user }),
    complete: handles
  },
  {
    tool: Reading.readPosts,
    uri: "postwire://posts/{id}",
    description: "A post, by id.",
    inputOf: (id) => ({ ids: [id] }),
    complete: () => []
  },
  {
    tool: Reading.lists,
    uri: "postwire://lists/{id}",
    description: "A list, by id.",
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

/** Hides the files of other sessions. */
export const visibility = McpServer.visibility(
  Effect.map(
    Effect.context<Session.Session>(),
    (services) => ({ target }) =>
      Effect.map(Session.Session, ({ written }) => written.has(target.slice(Files.uriOf("").length)))
        .pipe(Session.ofRequest, Effect.provideContext(services))
  )
)

/** Registers resources and prompts for these tools. Returns a function that lists the files to which an answer links. */
export const register = Effect.fnUntraced(function*(tools: ReadonlyArray<Tool>, answer: Answer) {
  const server = yield* McpServer.McpServer
  const annotations = Context.empty()
  const services = yield* Effect.context<Session.Session>()
  const completing = (complete: Complete) => (input: string) =>
    Effect.map(Session.Session, (session) => ({ completion: { values: [...complete(input, session)] } }))
      .pipe(Session.ofRequest, Effect.provideContext(services))
  for (const kind of [...kinds.filter(({ tool }) => tools.includes(tool)), files]) {
    const [base = "", parameter = ""] = kind.uri.split(/[{}]/)
    yield* server.addResourceTemplate({
      template: new McpSchema.ResourceTemplate({
        uriTemplate: kind.uri,
        name: base.split("/")[2] ?? "",
        description: kind.description,
        mimeType
      }),
      annotations,
      routerPath: `${base.replace(":", "::")}:0`,
      completions: { [parameter]: completing(kind.complete) },
      handle: (uri, [value = ""]) => read(answer, kind, uri, value)
    })
  }
  const names = tools.map(({ name }) => name)
  for (const { argument, textOf, ...prompt } of Prompts.of(names)) {
    yield* server.addPrompt({
      prompt: new McpSchema.Prompt({ ...prompt, arguments: [argument] }),
      annotations,
      completions: argument.name === "about"
        ? { about: completing((input, session) => [...handles(input, session)].map((handle) => `@${handle}`)) }
        : {},
      handle: ({ [argument.name]: value }) => {
        if (argument.required && value === undefined) {
          return Effect.fail(new McpSchema.InvalidParams({ message: `${argument.name}: is required.` }))
        }
        const content = McpSchema.TextContent.make({ text: textOf(value, (tool) => names.includes(tool)) })
        return Effect.succeed(new McpSchema.GetPromptResult({ messages: [{ role: "user", content }] }))
      }
    })
  }
  return (result: McpSchema.CallToolResult | McpSchema.InputRequired) =>
    Effect.forEach("content" in result ? result.content : [], (block) => {
      if (block.type !== "resource_link") return Effect.void
      const { name, uri } = block
      const resource = new McpSchema.Resource({ uri, name, mimeType, description: files.description })
      return server.addResource({ resource, annotations, services, handle: read(answer, files, uri, name) })
    }, { discard: true })
})
