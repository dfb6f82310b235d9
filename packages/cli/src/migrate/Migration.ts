/** The codemod from twitter-api-v2: a program's text with what could be moved, and a comment at what could not. */
import * as Clients from "./Clients.ts"
import { firstVersion, type Method, methods, nameOf as methodName, onePage, placeOf, shortcuts } from "./Methods.ts"
import { definitionOf, keptOf, rename } from "./Parameters.ts"
import * as Program from "./Program.ts"
import * as Results from "./Results.ts"
import * as Sources from "./Sources.ts"

export interface Migrated {
  readonly text: string
  /** The calls that were found, and those that were moved. */
  readonly calls: number
  readonly moved: number
  /** The comments in the new text, with those of an earlier run. */
  readonly todos: ReadonlyArray<{ readonly line: number; readonly message: string }>
}

const marker = "TODO(postwire): "

/** Tests whether a file may have anything to move. */
export const mayHave = (text: string): boolean => /twitter-api-v2|\.v2\b|TODO\(postwire\)/.test(text)

/** Moves a program. Throws a `SyntaxError` if it cannot be parsed. */
export const migrate = (text: string, path: string): Migrated => {
  const program = Program.read(text, path)
  const work: Work = { program, clients: Clients.find(program), edits: [], todos: new Map(), calls: 0, moved: 0 }
  const typed = /\.[cm]?tsx?$/.test(path)
  for (const node of program.nodes) {
    if (Program.isCall(node)) call(work, node, typed)
  }
  for (const node of program.nodes) member(work, node)
  const { edits, isRefused, todos } = Sources.rewrite(program, work.clients, typed)
  if (isRefused) {
    work.moved = 0
    work.edits.length = 0
    work.todos.clear()
  } else work.edits.push(...edits)
  for (const [node, message] of todos) todo(work, node, message)
  work.edits.push(...comments(work))
  const moved = Program.apply(text, work.edits)
  return { text: moved, calls: work.calls, moved: work.moved, todos: todosOf(moved) }
}

interface Work {
  readonly program: Program.Program
  readonly clients: Clients.Clients
  readonly edits: Array<Program.Edit>
  readonly todos: Map<Program.Node, string>
  calls: number
  moved: number
}

const todo = ({ todos }: Work, node: Program.Node, message: string): void => {
  if (!todos.has(node)) todos.set(node, message)
}

const todosOf = (text: string): Migrated["todos"] =>
  text.split("\n").flatMap((line, index) => {
    const at = line.indexOf(`// ${marker}`)
    return at < 0 ? [] : [{ line: index + 1, message: line.slice(at + 3 + marker.length) }]
  })

const call = (work: Work, node: Program.Node, typed: boolean): void => {
  const callee = Program.child(node, "callee")
  if (!Program.isMember(callee)) return
  const client = work.clients.of(Program.child(callee, "object"))
  const name = Program.nameOf(Program.child(callee, "property"))
  if (client === undefined || name === undefined) return
  const method = client.kind === "client" ? shortcuts.get(name) : client.kind === "v2" ? name : undefined
  if (client.isGuess && methods.every((row) => methodName(row) !== method)) return
  if (client.kind === "client" && method === undefined && !Clients.own.has(name)) return
  work.calls += 1
  const args = Program.children(node, "arguments")
  const media = name === "uploadMedia" && (client.kind === "v1" || client.kind === "v2") && args[0] !== undefined
  const refusal = media
    ? upload(work, node, callee, args)
    : client.kind === "v1"
    ? first(name)
    : method === undefined
    ? `${name}: see ${placeOf(name)}`
    : operation(work, node, callee, { client, method, args, typed })
  if (refusal === undefined) {
    work.moved += 1
    errors(work, node)
  } else {
    work.clients.kept.add(callee)
    todo(work, node, refusal)
  }
}

/** Comments where the error of a moved call is examined by members that only errors of twitter-api-v2 have. */
const errors = (work: Work, node: Program.Node): void => {
  const { bindings, parents } = work.program
  for (let at = node, outer = parents.get(at); outer !== undefined; at = outer, outer = parents.get(at)) {
    if (outer.type !== "TryStatement" || Program.child(outer, "block") !== at) continue
    const caught = Program.child(Program.child(outer, "handler"), "param")
    for (const reference of caught === undefined ? [] : bindings.get(caught)?.references ?? []) {
      const member = parents.get(reference)
      const name = Program.isMember(member) ? Program.nameOf(Program.child(member, "property")) : undefined
      if (member !== undefined && /^(code|data|errors|rateLimit|rateLimitError|isAuthError)$/.test(name ?? "")) {
        todo(work, member, `error.${name}: see docs/from-twitter-api-v2.md#errors`)
      }
    }
  }
}

const first = (name: string): string => {
  const replaced = firstVersion.get(name)
  return replaced === undefined
    ? `nothing replaces v1.${name}: see docs/from-twitter-api-v2.md#make-a-client`
    : `${replaced} replaces v1.${name}: see docs/${
      replaced.startsWith("publish") || replaced === "upload" ? "publish.md" : `reference/${replaced}.md`
    }`
}

/** `upload` returns the media, and not its id alone. */
const upload = (
  work: Work,
  node: Program.Node,
  callee: Program.Node,
  [file, ...rest]: ReadonlyArray<Program.Node>
): string | undefined => {
  const { clients, edits, program } = work
  const waits = program.parents.get(node)
  const options = rest.at(-1)
  const isPlain = rest.length <= 1 && (options === undefined || options.type === "ObjectExpression" &&
      Program.children(options, "properties").every((property) =>
        /^(mimeType|media_type|type)$/.test(Program.nameOf(Program.child(property, "key")) ?? "")
      ))
  if (file === undefined || !isPlain) return `uploadMedia: see ${placeOf("uploadMedia")}`
  const isAwaited = waits?.type === "AwaitExpression"
  edits.push(
    { start: clients.baseOf(callee).end, end: callee.end, text: ".upload" },
    { start: file.end, end: node.end, text: isAwaited ? ")" : ").then(({ id }) => id)" },
    ...isAwaited
      ? [{ start: waits.start, end: waits.start, text: "(" }, { start: waits.end, end: waits.end, text: ").id" }]
      : []
  )
  return undefined
}

interface Found {
  readonly client: Clients.Client
  readonly method: string
  readonly args: ReadonlyArray<Program.Node>
  readonly typed: boolean
}

/** Moves a call of an operation, or returns why not. */
const operation = (work: Work, node: Program.Node, callee: Program.Node, found: Found): string | undefined => {
  const { args, client, method, typed } = found
  const { clients, edits, program } = work
  const row = rowOf(method, args)
  if (row === undefined || /Stream$|^sendCompliance/.test(method)) return `${method}: see ${placeOf(method)}`
  const [, name, ...takes] = row
  const definition = definitionOf(name)
  if (args.some(({ type }) => type === "SpreadElement")) return `${method} with a spread: see docs/reference/${name}.md`
  const options = args.at(-1)
  const isObject = options?.type === "ObjectExpression"
  const given = isObject ? args.slice(0, -1) : args
  const skipsText = isObject && given.length < takes.length
  if (given.length > takes.length || skipsText && given.length > 0) {
    return `${method}: the names of ${text(program, args.at(-1))} are in docs/reference/${name}.md`
  }
  if (!isObject && method === "tweet" && !isText(program, args[0], typed)) {
    return `${method}: if ${text(program, args[0])} is an object, its names are in docs/reference/${name}.md`
  }
  const renamed = isObject ? rename(definition, options, program.text) : { edits: [] }
  if ("unknown" in renamed) return `${method} with ${oneLine(renamed.unknown)}: see docs/reference/${name}.md`
  const pages = definition.paging !== undefined && (!onePage.has(method) || hasPaginator(options))
  const result = Results.read(work.program, node, { pages, typed })
  if ("refusal" in result) return `${method}: ${result.refusal}`
  const extra = userAuth(client, definition.userAuth)
  if (extra === undefined) return `${method}: pass user_auth for the credential of this client: see docs/credentials.md`
  edits.push(
    { start: clients.baseOf(callee).end, end: callee.end, text: `${dot(callee)}${name}${result.suffix}` },
    ...renamed.edits,
    ...result.edits,
    ...parameters(program.text, node, { callee, given, takes, options: isObject ? options : undefined, extra })
  )
  return undefined
}

const dot = (callee: Program.Node): string => callee["optional"] === true ? "?." : "."

const text = ({ text }: Program.Program, node: Program.Node | undefined): string =>
  node === undefined ? "it" : oneLine(text.slice(node.start, node.end))

const oneLine = (text: string): string => {
  const line = text.replace(/\s+/g, " ")
  return line.length > 60 ? `${line.slice(0, 59)}…` : line
}

const rowOf = (method: string, args: ReadonlyArray<Program.Node>): Method | undefined => {
  const rows = methods.filter((row) => methodName(row) === method)
  if (method !== "hideReply") return rows[0]
  const hides = args[1]?.type === "BooleanLiteral" ? String(args[1]["value"]) : undefined
  return rows.find(([call]) => hides !== undefined && call.endsWith(`${hides})`))
}

/** Tests whether an argument is certainly a text. */
const isText = (program: Program.Program, node: Program.Node | undefined, typed: boolean): boolean => {
  const value = Program.bare(node)
  if (value === undefined) return false
  if (/^(StringLiteral|TemplateLiteral)$/.test(value.type)) return true
  if (value.type === "BinaryExpression") return true
  const binding = program.bindings.get(value)
  const annotation = typed && Program.child(Program.child(binding?.id, "typeAnnotation"), "typeAnnotation")
  if (annotation && annotation.type === "TSStringKeyword") return true
  const declarator = binding === undefined ? undefined : program.parents.get(binding.id)
  const init = declarator?.type === "VariableDeclarator" ? Program.child(declarator, "init") : undefined
  return init !== undefined && binding?.assigned.length === 0 && /^(StringLiteral|TemplateLiteral)$/.test(init.type)
}

const hasPaginator = (options: Program.Node | undefined): boolean =>
  Program.children(options, "properties").some((property) =>
    Program.nameOf(Program.child(property, "key")) === "asPaginator" &&
    Program.child(property, "value")?.["value"] === true
  )

/** The `user_auth` that keeps the credential, "" for the default, `undefined` if it is not known. */
const userAuth = ({ credential }: Clients.Client, usual: boolean | undefined): string | undefined => {
  if (usual === undefined || credential === "both" || credential === (usual ? "user" : "bearer")) return ""
  if (credential === undefined) return usual ? "" : undefined
  return `user_auth: ${!usual}`
}

/** Edits between the arguments, which stay where they are. */
const parameters = (
  text: string,
  node: Program.Node,
  { callee, extra, given, options, takes }: {
    readonly callee: Program.Node
    readonly given: ReadonlyArray<Program.Node>
    readonly takes: ReadonlyArray<string | null>
    readonly options: Program.Node | undefined
    readonly extra: string
  }
): ReadonlyArray<Program.Edit> => {
  const opened = text.indexOf("(", Math.max(callee.end, Program.child(node, "typeParameters")?.end ?? 0)) + 1
  const edits: Array<Program.Edit> = []
  const named = given.flatMap((arg, index) => {
    const name = takes[index]
    return typeof name === "string" ? [{ arg, name }] : []
  })
  let at = opened
  for (const [index, { arg, name }] of named.entries()) {
    const isShort = arg.type === "Identifier" && Program.nameOf(arg) === name
    edits.push({ start: at, end: arg.start, text: `${index === 0 ? "{ " : ", "}${isShort ? "" : `${name}: `}` })
    at = arg.end
  }
  if (options === undefined) {
    const last = named.length === 0 ? extra === "" ? "" : `{ ${extra} }` : `${extra === "" ? "" : `, ${extra}`} }`
    return [...edits, { start: at, end: node.end - 1, text: last }]
  }
  const lastProperty = keptOf(options).at(-1)
  if (lastProperty === undefined) {
    const last = named.length === 0 ? extra === "" ? "" : `{ ${extra} }` : `${extra === "" ? "" : `, ${extra}`} }`
    return [...edits, { start: at, end: node.end - 1, text: last }]
  }
  const isTight = /\s/.test(text[options.start + 1] ?? "")
  if (named.length > 0) edits.push({ start: at, end: options.start + 1, text: isTight ? "," : ", " })
  else if (given.length > 0) edits.push({ start: opened, end: options.start, text: "" })
  if (extra !== "") edits.push({ start: lastProperty.end, end: lastProperty.end, text: `, ${extra}` })
  return edits
}

/** Omits members of clients that Postwire has no counterpart of: `client.v2`, `client.readOnly`. */
const member = ({ clients, edits }: Work, node: Program.Node): void => {
  if (!Program.isMember(node) || clients.isKept(node)) return
  const object = Program.child(node, "object")
  const name = Program.nameOf(Program.child(node, "property"))
  const client = clients.of(object)
  if (client === undefined || client.isGuess || object === undefined || !/^(v2|readOnly|readWrite)$/.test(name ?? "")) {
    return
  }
  edits.push({ start: object.end, end: node.end, text: "" })
}

/** The comments, each on a line before its statement, with its indentation. */
const comments = ({ program: { parents, text }, todos }: Work): ReadonlyArray<Program.Edit> => {
  const lines = new Map<number, Set<string>>()
  for (const [node, message] of todos) {
    let at: Program.Node | undefined = node
    while (at !== undefined && !startsLine(text, at)) at = parents.get(at)
    const start = at === undefined && text.startsWith("#!")
      ? text.indexOf("\n") + 1
      : text.lastIndexOf("\n", (at?.start ?? 0) - 1) + 1
    if (!lines.has(start)) lines.set(start, new Set())
    lines.get(start)?.add(message)
  }
  return [...lines].flatMap(([start, messages]) => {
    const [indent] = /^[ \t]*/.exec(text.slice(start)) ?? [""]
    const before = text.slice(0, start).split("\n")
    const has = new Set<string>()
    for (let line = before.length - 2; before[line]?.includes(`// ${marker}`) === true; line--) {
      has.add(before[line]!.trim().slice(3 + marker.length))
    }
    const added = [...messages].filter((message) => !has.has(message))
    const newline = text.includes("\r\n") ? "\r\n" : "\n"
    return added.length === 0
      ? []
      : [{ start, end: start, text: added.map((message) => `${indent}// ${marker}${message}${newline}`).join("") }]
  })
}

const statement = /(Statement|Declaration|ClassProperty|ClassMethod)$/

const startsLine = (text: string, { start, type }: Program.Node): boolean =>
  statement.test(type) && type !== "BlockStatement" &&
  text.slice(text.lastIndexOf("\n", start - 1) + 1, start).trim() === ""
