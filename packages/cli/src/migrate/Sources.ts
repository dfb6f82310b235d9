/** The imports of twitter-api-v2 and the clients that a program makes, as Postwire's. */
import * as Clients from "./Clients.ts"
import * as Program from "./Program.ts"

interface Rewritten {
  readonly edits: ReadonlyArray<Program.Edit>
  /** True if a client stays one of twitter-api-v2: its calls would not run. */
  readonly isRefused: boolean
  readonly todos: ReadonlyArray<readonly [node: Program.Node, message: string]>
}

const guide = "docs/from-twitter-api-v2.md"

const keys: ReadonlyMap<string, string> = new Map([
  ["appKey", "consumerKey"],
  ["appSecret", "consumerSecret"],
  ["accessToken", "accessToken"],
  ["accessSecret", "accessTokenSecret"],
  ["bearerToken", "bearerToken"]
])

export const rewrite = (program: Program.Program, clients: Clients.Clients, typed: boolean): Rewritten => {
  const edits: Array<Program.Edit> = []
  const todos: Array<readonly [Program.Node, string]> = []
  let isRefused = false
  const local = program.names.has("createClient") ? "createPostwireClient" : "createClient"
  const statements = new Set(clients.imports.map(({ statement }) => statement))
  for (const statement of statements) {
    const here = clients.imports.filter((imported) => imported.statement === statement)
    const left: Array<Program.Node> = []
    const uses = { client: false, type: false }
    for (const { binding, name, specifier } of here) {
      const kept = binding.references.filter((reference) => {
        const parent = program.parents.get(reference)
        const made = name === "*" || !Clients.isClass(name) ? undefined : creation(program, parent, local)
        if (made !== undefined && "edits" in made) {
          edits.push(...made.edits)
          uses.client = true
          return false
        }
        if (typed && Clients.isClass(name) && parent?.type === "TSTypeReference") {
          edits.push({ start: reference.start, end: reference.end, text: "PostwireClient" })
          uses.type = true
          return false
        }
        isRefused ||= made !== undefined
        todos.push([parent ?? statement, made === undefined ? about(name) : made.refusal])
        return true
      })
      if (kept.length > 0 || binding.references.length === 0) left.push(specifier)
    }
    if (uses.client || uses.type) edits.push(...importOf(program, statement, here, { left, local, uses }))
  }
  for (const node of program.nodes) {
    if (!Program.isMember(node) || clients.of(node)?.kind !== "v2" || !isExported(program, node)) continue
    isRefused = true
    todos.push([
      node,
      `other files may call this as a client of v2: export the client itself: see ${guide}#make-a-client`
    ])
  }
  return { edits, todos, isRefused }
}

const isExported = (program: Program.Program, node: Program.Node): boolean => {
  const parent = program.parents.get(node)
  if (parent === undefined) return false
  const id = Program.child(parent, "id")
  const left = Program.child(parent, "left")
  switch (parent.type) {
    case "ExportDefaultDeclaration":
    case "ExportSpecifier":
      return true
    case "ObjectProperty":
    case "ObjectExpression":
      return isExported(program, parent)
    case "AssignmentExpression":
      return left !== node && /^(module\.)?exports\b/.test(program.text.slice(left?.start, left?.end))
    case "VariableDeclarator": {
      const declaration = program.parents.get(parent)
      const references = id === undefined ? [] : program.bindings.get(id)?.references ?? []
      return declaration !== undefined && program.parents.get(declaration)?.type === "ExportNamedDeclaration" ||
        references.some((reference) => isExported(program, reference))
    }
    default:
      return false
  }
}

/** The message about a name that stays. */
const about = (name: string): string =>
  /Error/.test(name)
    ? `${name}: see ${guide}#errors`
    : /IncludesHelper/.test(name)
    ? `${name}: see docs/client.md#expansions-authors-media-polls`
    : /StreamEvent|TweetStream/.test(name)
    ? `${name}: see docs/streams.md#events`
    : name === "*"
    ? `import the names of twitter-api-v2 one by one: see ${guide}#make-a-client`
    : `${name}: see ${guide}#operation-by-operation`

/** Edits that make a client from the same credentials. `undefined` if it is no creation. */
const creation = (program: Program.Program, node: Program.Node | undefined, local: string) => {
  if (node?.type !== "NewExpression") return undefined
  const callee = Program.child(node, "callee")
  const args = Program.children(node, "arguments")
  const [tokens] = args
  const refusal = (reason: string) => ({ refusal: `${reason}: see ${guide}#make-a-client` })
  if (callee === undefined || tokens === undefined || args.length > 1) {
    return args.length > 1
      ? { refusal: "settings and plugins: see docs/rate-limits.md and docs/retries.md" }
      : refusal("a client without credentials")
  }
  const start = { start: node.start, end: callee.end, text: local }
  if (Clients.isToken(tokens)) {
    return {
      edits: [
        start,
        { start: tokens.start, end: tokens.start, text: `{ wire: "x", bearerToken: ` },
        { start: tokens.end, end: tokens.end, text: " }" }
      ]
    }
  }
  if (tokens.type !== "ObjectExpression") {
    return refusal(
      `createClient({ wire: "x", ... }) if ${
        program.text.slice(tokens.start, tokens.end).slice(0, 40)
      } has the right names`
    )
  }
  const edits: Array<Program.Edit> = [start]
  for (const property of Program.children(tokens, "properties")) {
    const key = Program.child(property, "key")
    const own = Program.nameOf(key)
    const name = keys.get(own ?? "")
    if (own?.startsWith("client") === true) return { refusal: `${own}: see docs/sign-in.md#sign-users-in-to-a-web-app` }
    if (key === undefined || name === undefined) return refusal(own ?? "a spread of credentials")
    if (name === own) continue
    edits.push({ start: key.start, end: key.end, text: property["shorthand"] === true ? `${name}: ${own}` : name })
    if (property["shorthand"] === true) {
      edits.splice(-1, 1, { start: property.start, end: property.end, text: `${name}: ${own}` })
    }
  }
  const [gap] = /^\s*/.exec(program.text.slice(tokens.start + 1)) ?? [""]
  edits.push({ start: tokens.start + 1, end: tokens.start + 1, text: `${gap}wire: "x",${gap === "" ? " " : ""}` })
  return { edits }
}

/** Edits of an import, which stays for the names that are left. */
const importOf = (
  { text }: Program.Program,
  statement: Program.Node,
  all: ReadonlyArray<Clients.Imported>,
  { left, local, uses }: {
    readonly left: ReadonlyArray<Program.Node>
    readonly local: string
    readonly uses: { readonly client: boolean; readonly type: boolean }
  }
): ReadonlyArray<Program.Edit> => {
  const original = text.slice(statement.start, statement.end)
  const [, quote = "\""] = /(["'])twitter-api-v2/.exec(original) ?? []
  const source = `${quote}@postwire/node${quote}`
  const end = original.endsWith(";") ? ";" : ""
  const isImport = statement.type === "ImportDeclaration"
  const renamed = local === "createClient" ? local : isImport ? `createClient as ${local}` : `createClient: ${local}`
  const names = [...uses.client ? [renamed] : [], ...uses.type && isImport ? ["type PostwireClient"] : []].join(", ")
  const load = /await\s+import/.test(original) ? `await import(${source})` : `require(${source})`
  const declared = isImport
    ? `import { ${names} } from ${source}`
    : `${String(statement["kind"])} { ${names} } = ${load}`
  if (left.length === 0) {
    const others = Program.children(statement, "declarations")
    if (others.length > 1) {
      const declarator = others.find((one) => one.start <= all[0]!.specifier.start && all[0]!.specifier.end <= one.end)
      return declarator === undefined
        ? []
        : [{ start: declarator.start, end: declarator.end, text: `{ ${names} } = ${load}` }]
    }
    return [{ start: statement.start, end: statement.end, text: `${declared}${end}` }]
  }
  const indent = text.slice(text.lastIndexOf("\n", statement.start - 1) + 1, statement.start)
  const gone = all.filter(({ specifier }) => !left.includes(specifier)).map(({ specifier }) => specifier)
  return [
    { start: statement.start, end: statement.start, text: `${declared}${end}\n${/^\s*$/.test(indent) ? indent : ""}` },
    ...gone.map(({ end, start }) => {
      const [comma] = /^\s*,\s*/.exec(text.slice(end)) ?? [""]
      return { start, end: end + comma.length, text: "" }
    })
  ]
}
