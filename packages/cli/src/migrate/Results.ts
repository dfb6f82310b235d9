/** The uses of a call's result: pages become iterations or responses, and fields have their names here. */
import { fieldOf, isRenamed } from "./Parameters.ts"
import * as Program from "./Program.ts"

interface Found {
  /** True for a paginator. */
  readonly pages: boolean
  readonly typed: boolean
}

interface Moved {
  /** Follows the operation's name: `.items`. */
  readonly suffix: "" | ".items" | ".joined"
  readonly edits: ReadonlyArray<Program.Edit>
}

export const read = (
  program: Program.Program,
  call: Program.Node,
  found: Found
): Moved | { readonly refusal: string } => {
  const parent = program.parents.get(call)
  const wait = parent?.type === "AwaitExpression" ? parent : undefined
  if (!found.pages) {
    return {
      suffix: "",
      edits: wait === undefined ? derived(program, call) : responseEdits(program, wait, found.typed)
    }
  }
  if (wait === undefined) return refuse("a paginator that is not awaited here")
  const used = usesOf(program, wait)
  if (used === undefined) return refuse("a paginator that is taken apart or passed elsewhere")
  if (used.uses.length > 0 && used.uses.every((use) => isLoop(program, use))) {
    const argument = Program.child(wait, "argument")
    return {
      suffix: ".items",
      edits: [
        { start: wait.start, end: argument?.start ?? wait.start, text: "" },
        ...used.uses.flatMap((use) => derived(program, use))
      ]
    }
  }
  const joined = joinedEdits(program, wait, used.uses)
  if (joined !== undefined) return { suffix: ".joined", edits: joined }
  const edits: Array<Program.Edit> = []
  for (const use of used.uses) {
    const edit = used.pattern === undefined ? pageEdit(program, use, found.typed) : bodyEdit(program, use, found.typed)
    if (edit === undefined) return refuse("this use of its pages")
    edits.push(...edit)
  }
  if (used.pattern !== undefined) {
    const [property] = Program.children(used.pattern, "properties")
    const value = Program.child(property, "value")
    edits.push({ start: used.pattern.start, end: used.pattern.end, text: Program.nameOf(value) ?? "data" })
  }
  return { suffix: "", edits }
}

const refuse = (what: string) => ({ refusal: `${what}: see docs/pages.md` })

interface Uses {
  readonly uses: ReadonlyArray<Program.Node>
  /** The pattern of `const { data } = await ...`. */
  readonly pattern?: Program.Node
}

/** The uses of an awaited value: the expression itself, or the references of the name that it has. */
const usesOf = (program: Program.Program, wait: Program.Node): Uses | undefined => {
  const parent = program.parents.get(wait)
  if (parent?.type !== "VariableDeclarator") {
    return Program.isMember(parent) || isLoop(program, wait)
      ? { uses: [wait] }
      : undefined
  }
  const id = Program.child(parent, "id")
  const binding = id === undefined ? undefined : program.bindings.get(id)
  if (binding !== undefined) return binding.assigned.length > 0 ? undefined : { uses: binding.references }
  const properties = Program.children(id, "properties")
  const value = Program.child(properties[0], "value")
  const only = value === undefined ? undefined : program.bindings.get(value)
  return id !== undefined && properties.length === 1 &&
      Program.nameOf(Program.child(properties[0], "key")) === "data" && only !== undefined
    ? { uses: only.references, pattern: id }
    : undefined
}

const isLoop = ({ parents }: Program.Program, use: Program.Node): boolean => {
  const loop = parents.get(use)
  return loop?.type === "ForOfStatement" && loop["await"] === true && Program.child(loop, "right") === use
}

/** Edits of a loop over all pages that looks up only the authors of its items. */
const joinedEdits = (
  program: Program.Program,
  wait: Program.Node,
  uses: ReadonlyArray<Program.Node>
): ReadonlyArray<Program.Edit> | undefined => {
  const { bindings, names, parents, text } = program
  const [loop, ...loops] = uses.filter((use) => isLoop(program, use))
  const [declarator] = Program.children(Program.child(loop && parents.get(loop), "left"), "declarations")
  const item = Program.child(declarator, "id")
  if (loop === undefined || loops.length > 0 || item?.type !== "Identifier" || names.has("author")) return undefined
  const edits: Array<Program.Edit> = [
    { start: wait.start, end: Program.child(wait, "argument")?.start ?? wait.start, text: "" },
    { start: item.start, end: item.end, text: `{ author, item: ${text.slice(item.start, item.end)} }` },
    ...derived(program, loop)
  ]
  for (const use of uses.filter((use) => use !== loop)) {
    const includes = parents.get(use)
    const author = includes && parents.get(includes)
    const call = author && parents.get(author)
    const [of] = Program.children(call, "arguments")
    const isAuthor = /^\??\.includes\??\.author$/.test(text.slice(use.end, author?.end))
    if (call === undefined || !Program.isCall(call) || of === undefined || bindings.get(of)?.id !== item || !isAuthor) {
      return undefined
    }
    edits.push({ start: call.start, end: call.end, text: "author" })
  }
  return edits
}

/** Edits of one use of the first page, `undefined` if it has no equivalent. */
const pageEdit = (
  program: Program.Program,
  use: Program.Node,
  typed: boolean
): ReadonlyArray<Program.Edit> | undefined => {
  const member = program.parents.get(use)
  if (member?.type === "ForOfStatement" && member["await"] === false) {
    return [{ start: use.end, end: use.end, text: ".data ?? []" }]
  }
  if (!Program.isMember(member)) return undefined
  const name = Program.nameOf(Program.child(member, "property")) ?? ""
  const outer = program.parents.get(member)
  const inner = Program.isMember(outer) ? Program.nameOf(Program.child(outer, "property")) : undefined
  const names = derived(program, member)
  if (/^(tweets|users|lists)$/.test(name)) {
    const start = use.start
    return [{ start, end: start, text: "(" }, { start: use.end, end: member.end, text: ".data ?? [])" }, ...names]
  }
  if (name === "data" && outer !== undefined && /^(data|meta|includes|errors)$/.test(inner ?? "")) {
    return [
      { start: use.end, end: member.end, text: "" },
      ...inner === "data" ? assertion(program, outer, typed) : [],
      ...names
    ]
  }
  if (/^(meta|errors)$/.test(name)) return names
  if (name === "includes" && outer !== undefined && inner !== undefined) {
    if (/^(author|poll|medias|retweet|quote|repliedTo|userMentions)$/.test(inner)) {
      return inner === "author" || inner === "poll" ? [{ start: use.end, end: member.end, text: "" }] : undefined
    }
    return names
  }
  return undefined
}

/** Edits of one use of the body of the first page. */
const bodyEdit = (
  program: Program.Program,
  use: Program.Node,
  typed: boolean
): ReadonlyArray<Program.Edit> | undefined => {
  const member = program.parents.get(use)
  const name = Program.isMember(member) ? Program.nameOf(Program.child(member, "property")) : undefined
  if (member === undefined || !/^(data|meta|includes|errors)$/.test(name ?? "")) return undefined
  return [...name === "data" ? assertion(program, member, typed) : [], ...derived(program, member)]
}

/** `!` for TypeScript, where a member of `data` is read. */
const assertion = ({ parents }: Program.Program, data: Program.Node, typed: boolean): ReadonlyArray<Program.Edit> => {
  const outer = parents.get(data)
  return typed && Program.isMember(outer) && outer["optional"] !== true && Program.child(outer, "object") === data
    ? [{ start: data.end, end: data.end, text: "!" }]
    : []
}

/** Edits of the uses of a response, whose `data` may be absent. */
const responseEdits = (program: Program.Program, wait: Program.Node, typed: boolean): ReadonlyArray<Program.Edit> => {
  const parent = program.parents.get(wait)
  const id = parent?.type === "VariableDeclarator" ? Program.child(parent, "id") : undefined
  const edits: Array<Program.Edit> = [...derived(program, wait)]
  const asserted = (member: Program.Node | undefined) => {
    if (Program.isMember(member) && Program.nameOf(Program.child(member, "property")) === "data") {
      edits.push(...assertion(program, member, typed))
    }
  }
  if (Program.isMember(parent)) asserted(parent)
  for (const reference of id === undefined ? [] : program.bindings.get(id)?.references ?? []) {
    asserted(program.parents.get(reference))
  }
  for (const property of Program.children(id, "properties")) {
    const value = Program.child(property, "value")
    if (Program.nameOf(Program.child(property, "key")) !== "data" || value === undefined) continue
    for (const reference of program.bindings.get(value)?.references ?? []) {
      edits.push(...assertion(program, reference, typed))
    }
  }
  return edits
}

/** Edits of the names of fields in what is derived from a value by members, names, loops and callbacks. */
const derived = (
  program: Program.Program,
  from: Program.Node,
  seen = new Set<Program.Node>()
): ReadonlyArray<Program.Edit> => {
  if (seen.has(from)) return []
  seen.add(from)
  const next = (node: Program.Node | undefined) => node === undefined ? [] : derived(program, node, seen)
  const named = (pattern: Program.Node | undefined): ReadonlyArray<Program.Edit> => [
    ...Program.declared(pattern).flatMap((id) => program.bindings.get(id)?.references.flatMap(next) ?? []),
    ...Program.children(pattern, "properties").flatMap((property) => renamedKey(property))
  ]
  const parent = program.parents.get(from)
  if (parent === undefined) return []
  const member = Program.isMember(parent) ? parent : undefined
  if (member !== undefined && Program.child(member, "object") === from) {
    const property = Program.child(member, "property")
    const name = Program.nameOf(property)
    const edits = property !== undefined && name !== undefined && isRenamed(name)
      ? [{ start: property.start, end: property.end, text: fieldOf(name) }]
      : name === "tweets" && property !== undefined
      ? [{ start: property.start, end: property.end, text: "posts" }]
      : []
    return [...edits, ...next(member)]
  }
  if (/^(Optional)?CallExpression$/.test(parent.type)) {
    const callee = Program.child(parent, "callee")
    return callee === from ?
      [
        ...Program.children(parent, "arguments").flatMap((argument) =>
          /Function/.test(argument.type) ? named(Program.children(argument, "params")[0]) : []
        ),
        ...next(parent)
      ] :
      []
  }
  if (parent.type === "VariableDeclarator") return named(Program.child(parent, "id"))
  if (parent.type === "ForOfStatement" && Program.child(parent, "right") === from) {
    const [declarator] = Program.children(Program.child(parent, "left"), "declarations")
    return named(Program.child(declarator, "id"))
  }
  return /^(TSNonNull|LogicalExpression|ChainExpression)/.test(parent.type) || parent["computed"] === true
    ? next(parent)
    : []
}

const renamedKey = (property: Program.Node): ReadonlyArray<Program.Edit> => {
  const key = Program.child(property, "key")
  const name = Program.nameOf(key)
  if (key === undefined || name === undefined || !isRenamed(name)) return []
  return property["shorthand"] === true
    ? [{ start: key.start, end: key.start, text: `${fieldOf(name)}: ` }]
    : [{ start: key.start, end: key.end, text: fieldOf(name) }]
}
