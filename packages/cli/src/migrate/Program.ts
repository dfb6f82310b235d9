/** A program as text: its syntax tree, the names that it declares, and edits that leave the rest of the text unchanged. */
import { parse } from "@babel/parser"
import * as Predicate from "effect/Predicate"

export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [member: string]: unknown
}

/** A declared name, where it is used, and the values assigned to it later. */
export interface Binding {
  readonly id: Node
  readonly references: Array<Node>
  readonly assigned: Array<Node>
}

export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

export interface Program {
  readonly text: string
  readonly nodes: ReadonlyArray<Node>
  readonly parents: ReadonlyMap<Node, Node>
  readonly bindings: ReadonlyMap<Node, Binding>
  readonly names: ReadonlySet<string>
}

const isNode = (value: unknown): value is Node =>
  Predicate.hasProperty(value, "type") && typeof value.type === "string" && Predicate.hasProperty(value, "start")

export const child = (node: Node | undefined, member: string): Node | undefined => {
  const value = node?.[member]
  return isNode(value) ? value : undefined
}

export const children = (node: Node | undefined, member: string): ReadonlyArray<Node> => {
  const value = node?.[member]
  return Array.isArray(value) ? value.filter(isNode) : []
}

/** The name of an identifier, or the text of a literal. */
export const nameOf = (node: Node | undefined): string | undefined =>
  node?.type === "Identifier" && typeof node["name"] === "string"
    ? node["name"]
    : node?.type === "StringLiteral" && typeof node["value"] === "string"
    ? node["value"]
    : undefined

/** An expression without assertions of its type. */
export const bare = (node: Node | undefined): Node | undefined =>
  node !== undefined && /^(TSNonNull|TSAs|TSSatisfies|TSTypeAssertion|Parenthesized)/.test(node.type)
    ? bare(child(node, "expression"))
    : node

export const isMember = (node: Node | undefined): node is Node =>
  node !== undefined && /^(Optional)?MemberExpression$/.test(node.type) && node["computed"] === false

export const isCall = (node: Node | undefined): node is Node =>
  node !== undefined && /^(Optional)?CallExpression$/.test(node.type)

/** Parses JavaScript, JSX and TypeScript. Throws a `SyntaxError` with its line. */
export const read = (text: string, path: string): Program => {
  const isTyped = /\.[cm]?tsx?$/.test(path)
  const root = parse(text, {
    sourceType: "unambiguous",
    allowReturnOutsideFunction: true,
    allowAwaitOutsideFunction: true,
    plugins: [
      ...isTyped ? ["typescript" as const, "decorators-legacy" as const] : ["decorators-legacy" as const],
      ...isTyped && !path.endsWith("x") ? [] : ["jsx" as const]
    ]
  }).program
  const nodes: Array<Node> = []
  const parents = new Map<Node, Node>()
  const visit = (node: Node): void => {
    nodes.push(node)
    for (const [member, value] of Object.entries(node)) {
      if (member === "loc" || member.endsWith("omments")) continue
      for (const inner of Array.isArray(value) ? value : [value]) {
        if (!isNode(inner)) continue
        parents.set(inner, node)
        visit(inner)
      }
    }
  }
  if (isNode(root)) visit(root)
  return { text, nodes, parents, ...bind(nodes, parents) }
}

const isScope = ({ type }: Node): boolean =>
  /^(Program|BlockStatement|For\w*Statement|CatchClause)$|Function|Method$/.test(type)

/** The identifiers that a pattern declares. */
export const declared = (pattern: Node | undefined): ReadonlyArray<Node> => {
  switch (pattern?.type) {
    case "Identifier":
      return [pattern]
    case "ObjectPattern":
      return children(pattern, "properties").flatMap((property) =>
        declared(child(property, "value") ?? child(property, "argument"))
      )
    case "ArrayPattern":
      return children(pattern, "elements").flatMap(declared)
    case "AssignmentPattern":
      return declared(child(pattern, "left"))
    case "RestElement":
      return declared(child(pattern, "argument"))
    default:
      return []
  }
}

/** The identifiers that a node declares, in the scope around it, or in its own if it is one. */
const declaredBy = (node: Node): ReadonlyArray<Node> => {
  if (node.type === "VariableDeclarator") return declared(child(node, "id"))
  if (/^Import\w*Specifier$/.test(node.type)) return declared(child(node, "local"))
  if (node.type === "CatchClause") return declared(child(node, "param"))
  if (/Function|Method$/.test(node.type)) return children(node, "params").flatMap(declared)
  return []
}

const bind = (nodes: ReadonlyArray<Node>, parents: ReadonlyMap<Node, Node>): Pick<Program, "bindings" | "names"> => {
  const scopes = new Map<Node, Map<string, Binding>>()
  const bindings = new Map<Node, Binding>()
  const names = new Set<string>()
  const scopeOf = (node: Node | undefined): Node | undefined =>
    node === undefined || isScope(node) ? node : scopeOf(parents.get(node))
  const declare = (id: Node, scope: Node | undefined) => {
    const name = nameOf(id)
    if (name === undefined || scope === undefined) return
    const binding = { id, references: [], assigned: [] }
    names.add(name)
    bindings.set(id, binding)
    if (!scopes.has(scope)) scopes.set(scope, new Map())
    scopes.get(scope)?.set(name, binding)
  }
  for (const node of nodes) {
    for (const id of declaredBy(node)) declare(id, scopeOf(node))
    const named = /^(Function|Class)Declaration$/.test(node.type) ? child(node, "id") : undefined
    if (named !== undefined) declare(named, scopeOf(parents.get(node)))
  }
  const find = (name: string, from: Node | undefined): Binding | undefined =>
    from === undefined ? undefined : scopes.get(from)?.get(name) ?? find(name, parents.get(from))
  for (const node of nodes) {
    const name = node.type === "Identifier" ? nameOf(node) : undefined
    if (name === undefined || bindings.has(node) || isKey(node, parents.get(node))) continue
    const binding = find(name, node)
    if (binding === undefined) continue
    bindings.set(node, binding)
    binding.references.push(node)
    const parent = parents.get(node)
    const right = parent?.type === "AssignmentExpression" && child(parent, "left") === node && child(parent, "right")
    if (right) binding.assigned.push(right)
  }
  return { bindings, names }
}

/** Tests whether an identifier is the name of a member or of an import, not a reference. */
const isKey = (node: Node, parent: Node | undefined): boolean =>
  parent !== undefined && (
    parent["computed"] !== true && (child(parent, "key") === node || child(parent, "property") === node) ||
    child(parent, "imported") === node || child(parent, "right") === node && parent.type === "TSQualifiedName"
  )

/** The text with edits, of which those inside another are dropped. */
export const apply = (text: string, edits: ReadonlyArray<Edit>): string => {
  const sorted = edits.map((edit, order) => ({ ...edit, order })).sort((a, b) =>
    a.start - b.start || (a.start === a.end ? -1 : 0) - (b.start === b.end ? -1 : 0) || b.end - a.end ||
    a.order - b.order
  )
  let at = 0
  let done = ""
  for (const { end, start, text: inserted } of sorted) {
    if (start < at) continue
    done += text.slice(at, start) + inserted
    at = end
  }
  return done + text.slice(at)
}
