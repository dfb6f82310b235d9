/** The expressions of a program that are clients of twitter-api-v2. */
import * as Program from "./Program.ts"

export interface Client {
  readonly kind: "client" | "v1" | "v2"
  /** The credential that its calls send; `undefined` if it is not known. */
  readonly credential: "user" | "bearer" | "both" | undefined
  /** True for `imported.v2`, which is a client if its method has one's name. */
  readonly isGuess?: boolean
}

export interface Clients {
  readonly of: (node: Program.Node | undefined) => Client | undefined
  /** The expression before `.v2`, `.readOnly` and `.readWrite`, with the dot before the method. */
  readonly baseOf: (callee: Program.Node) => Program.Node
  /** Callees that remain unchanged. */
  readonly kept: Set<Program.Node>
  readonly isKept: (node: Program.Node) => boolean
  /** The names that are imported from twitter-api-v2. */
  readonly imports: ReadonlyArray<Imported>
}

/** A name imported from twitter-api-v2, by whichever syntax. */
export interface Imported {
  readonly name: string
  readonly binding: Program.Binding
  /** The import, or the declaration of a variable. */
  readonly statement: Program.Node
  readonly specifier: Program.Node
}

/** Methods of the client itself. */
export const own: ReadonlySet<string> = new Set([
  "login",
  "generateAuthLink",
  "appLogin",
  "generateOAuth2AuthLink",
  "loginWithOAuth2",
  "refreshOAuth2Token",
  "revokeOAuth2Token",
  "currentUser"
])

/** Classes of clients, which are types as well. */
export const isClass = (name: string): boolean =>
  /^(default|TwitterApi(ReadOnly|ReadWrite|v2(ReadOnly|ReadWrite)?)?)$/.test(name)

export const find = (program: Program.Program): Clients => {
  const imports = importsOf(program)
  const classes = new Set(imports.flatMap(({ binding, name }) => isClass(name) ? [binding] : []))
  const kept = new Set<Program.Node>()
  const known = new Map<Program.Node, Client | undefined>()
  const fields = fieldsOf(program)

  const of = (node: Program.Node | undefined): Client | undefined => {
    const value = Program.bare(node)
    if (value === undefined) return undefined
    if (!known.has(value)) {
      // A cycle of assignments ends here.
      known.set(value, undefined)
      known.set(value, find(value))
    }
    return known.get(value)
  }
  const isClassOf = (node: Program.Node | undefined): boolean => {
    const binding = node === undefined ? undefined : program.bindings.get(node)
    return binding !== undefined && classes.has(binding)
  }
  const annotated = (node: Program.Node | undefined): Client | undefined => {
    const type = Program.child(Program.child(node, "typeAnnotation"), "typeAnnotation")
    const name = Program.child(type, "typeName")
    return isClassOf(name)
      ? { kind: /v2/.test(Program.nameOf(name) ?? "") ? "v2" : "client", credential: undefined }
      : undefined
  }
  const find = (node: Program.Node): Client | undefined => {
    if (node.type === "NewExpression" && isClassOf(Program.child(node, "callee"))) {
      return { kind: "client", credential: credentialOf(Program.children(node, "arguments")) }
    }
    if (Program.isMember(node)) return memberOf(node)
    const binding = program.bindings.get(node)
    if (binding === undefined) return undefined
    const declarator = program.parents.get(binding.id)
    const init = declarator?.type === "VariableDeclarator" ? Program.child(declarator, "init") : undefined
    return first(of(init), ...binding.assigned.map(of)) ?? annotated(binding.id)
  }
  const memberOf = (node: Program.Node): Client | undefined => {
    const object = Program.child(node, "object")
    const name = Program.nameOf(Program.child(node, "property")) ?? ""
    if (object?.type === "ThisExpression") {
      const all = fields.get(name) ?? []
      return first(...all.map((field) => of(field.value)), ...all.map((field) => annotated(field.declaration)))
    }
    const client = of(object)
    if (client?.kind === "client" && (name === "v1" || name === "v2")) return { ...client, kind: name }
    if (client !== undefined && /^(readOnly|readWrite)$/.test(name)) return client
    return name === "v2" && isImported(program, object)
      ? { kind: "v2", credential: undefined, isGuess: true }
      : undefined
  }
  const baseOf = (callee: Program.Node): Program.Node => {
    let base = Program.child(callee, "object") ?? callee
    while (
      Program.isMember(base) &&
      /^(v1|v2|readOnly|readWrite)$/.test(Program.nameOf(Program.child(base, "property")) ?? "")
    ) base = Program.child(base, "object") ?? base
    return base
  }
  const isKept = (node: Program.Node): boolean => {
    const parent = program.parents.get(node)
    return parent !== undefined && (kept.has(node) || Program.isMember(parent) && isKept(parent))
  }
  return { of, baseOf, kept, isKept, imports }
}

const first = (...clients: ReadonlyArray<Client | undefined>): Client | undefined =>
  clients.find((client) => client?.credential !== undefined) ?? clients.find((client) => client !== undefined)

interface Field {
  readonly value?: Program.Node | undefined
  readonly declaration?: Program.Node | undefined
}

/** The values and declarations of `this.NAME`, over all classes of a file. */
const fieldsOf = ({ nodes }: Program.Program): ReadonlyMap<string, ReadonlyArray<Field>> => {
  const fields = new Map<string, Array<Field>>()
  const add = (name: string | undefined, field: Field) => {
    if (name !== undefined) fields.set(name, [...fields.get(name) ?? [], field])
  }
  for (const node of nodes) {
    if (node.type === "ClassProperty") {
      add(Program.nameOf(Program.child(node, "key")), { value: Program.child(node, "value"), declaration: node })
    }
    if (node.type === "TSParameterProperty") {
      const declaration = Program.child(node, "parameter")
      add(Program.nameOf(declaration), { declaration })
    }
    const left = node.type === "AssignmentExpression" ? Program.child(node, "left") : undefined
    if (Program.isMember(left) && Program.child(left, "object")?.type === "ThisExpression") {
      add(Program.nameOf(Program.child(left, "property")), { value: Program.child(node, "right") })
    }
  }
  return fields
}

/** Tests whether a name comes from another file of the project. */
const isImported = (program: Program.Program, node: Program.Node | undefined): boolean => {
  const id = node === undefined ? undefined : program.bindings.get(node)?.id
  let at = id
  while (at !== undefined && !/^(ImportDeclaration|VariableDeclarator)$/.test(at.type)) at = program.parents.get(at)
  const source = at?.type === "ImportDeclaration" ? Program.child(at, "source") : sourceOf(Program.child(at, "init"))
  return /^(\.|@\/|~\/)/.test(Program.nameOf(source) ?? "")
}

/** The source of `require("...")` or `await import("...")`. */
const sourceOf = (node: Program.Node | undefined): Program.Node | undefined => {
  const value = node?.type === "AwaitExpression" ? Program.child(node, "argument") : node
  if (value?.type === "ImportExpression") return Program.child(value, "source")
  const callee = Program.child(value, "callee")
  return callee?.type === "Import" || Program.nameOf(callee) === "require"
    ? Program.children(value, "arguments")[0]
    : undefined
}

const isLibrary = (source: Program.Node | undefined): boolean => Program.nameOf(source) === "twitter-api-v2"

const importsOf = (program: Program.Program): ReadonlyArray<Imported> => {
  const found: Array<Imported> = []
  const add = (
    name: string | undefined,
    id: Program.Node | undefined,
    specifier: Program.Node,
    statement: Program.Node
  ) => {
    const binding = id === undefined ? undefined : program.bindings.get(id)
    if (binding !== undefined) found.push({ name: name ?? "*", binding, specifier, statement })
  }
  for (const node of program.nodes) {
    if (node.type === "ImportDeclaration" && isLibrary(Program.child(node, "source"))) {
      for (const specifier of Program.children(node, "specifiers")) {
        const name = specifier.type === "ImportDefaultSpecifier"
          ? "default"
          : Program.nameOf(Program.child(specifier, "imported"))
        add(name, Program.child(specifier, "local"), specifier, node)
      }
    }
    if (node.type !== "VariableDeclarator") continue
    const init = Program.child(node, "init")
    const statement = program.parents.get(node)
    const id = Program.child(node, "id")
    if (statement === undefined || id === undefined) continue
    if (Program.isMember(init) && isLibrary(sourceOf(Program.child(init, "object")))) {
      add(Program.nameOf(Program.child(init, "property")), id, node, statement)
    }
    if (!isLibrary(sourceOf(init))) continue
    if (id.type === "Identifier") add("*", id, node, statement)
    for (const property of Program.children(id, "properties")) {
      add(Program.nameOf(Program.child(property, "key")), Program.child(property, "value"), property, statement)
    }
  }
  return found
}

/** The credential of the arguments of a constructor. */
const credentialOf = ([tokens]: ReadonlyArray<Program.Node>): Client["credential"] => {
  if (tokens?.type !== "ObjectExpression") return isToken(tokens) ? "bearer" : undefined
  const names = Program.children(tokens, "properties").map((property) => Program.nameOf(Program.child(property, "key")))
  if (names.includes("bearerToken")) return names.includes("accessSecret") ? "both" : "bearer"
  return names.includes("accessSecret") ? "user" : undefined
}

/** Tests whether an expression is a bearer token and not an object of tokens. */
export const isToken = (node: Program.Node | undefined): boolean => {
  const value = Program.bare(node)
  if (value === undefined) return false
  if (/^(StringLiteral|TemplateLiteral)$/.test(value.type)) return true
  if (/^(Logical|Binary)Expression$/.test(value.type)) return isToken(Program.child(value, "left"))
  const name = Program.isMember(value) ? Program.child(value, "property") : value
  return /bearer|access_?token$|^token$/i.test(Program.nameOf(name) ?? "")
}
