/**
 * Repairs a body that does not match its schema. The body is changed in place: `null` becomes absent, and a part of another
 * type is omitted and recorded. If an essential member ({@link Model.essential}) is omitted, so is the value that contains it,
 * up to the whole body.
 *
 * This is slow, and used only for bodies that the verifier refuses.
 */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { Found } from "../schema/Anomaly.ts"
import * as Model from "../schema/Model.ts"

/** The outcome of a repair. */
export interface Repaired {
  /** True if anything is left. */
  readonly isAnswer: boolean
  /** The omitted parts, at most the first thousand. */
  readonly found: ReadonlyArray<Found>
  /** The part that was omitted last: if nothing is left, this is the reason. */
  readonly last: Found | undefined
}

/** Limits the memory that a malformed response can take. */
const maxFound = 1_000

/** Compiles a schema without transformations into a function that repairs its values. */
export const make = (schema: { readonly ast: SchemaAST.AST }): (body: unknown) => Repaired => {
  const whole = compile(schema.ast)
  return (body) => {
    const walk = new Walk()
    return { isAnswer: whole.repair(body, walk), found: walk.found, last: walk.last }
  }
}

/** The state of one repair: the current path, and the parts omitted so far. */
class Walk {
  readonly found: Array<Found> = []
  readonly keys: Array<string | number> = []
  last: Found | undefined

  note(expected: string, value: unknown): void {
    const path = this.keys.map((key, i) => typeof key === "number" ? `[${key}]` : i === 0 ? key : `.${key}`).join("")
    this.last = new Found(path, expected, value)
    if (this.found.length < maxFound) this.found.push(this.last)
  }

  /** Repairs the value at a key. */
  at(key: string | number, part: Part, value: unknown): boolean {
    this.keys.push(key)
    const isKept = part.repair(value, this)
    this.keys.pop()
    return isKept
  }
}

/** A part of a body. */
interface Part {
  /** The type in words. */
  readonly expected: string
  /** Tests the type of a value, not its contents. */
  readonly accepts: (value: unknown) => boolean
  /** Tests the constant members of an object, by which a union is divided. */
  readonly isMember?: ((value: unknown) => boolean) | undefined
  /** Returns `false` if nothing of the value can be kept. */
  readonly repair: (value: unknown, walk: Walk) => boolean
}

const part = <A>(
  expected: string,
  accepts: (value: unknown) => value is A,
  inside: (value: A, walk: Walk) => boolean = () => true
): Part => ({
  expected,
  accepts,
  repair: (value, walk) => {
    if (accepts(value)) return inside(value, walk)
    walk.note(expected, value)
    return false
  }
})

const compile = (ast: SchemaAST.AST): Part => {
  switch (ast._tag) {
    case "Objects":
      return object(ast)
    case "Arrays":
      return array(ast)
    case "Union":
      return union(ast.types.map(compile))
    default:
      return part(wordsOf(ast), Schema.is(Schema.make<Schema.Top>(ast)))
  }
}

const words: { readonly [Tag in SchemaAST.AST["_tag"]]?: string } = {
  String: "a string",
  Number: "a number",
  Boolean: "true or false"
}

const wordsOf = (ast: SchemaAST.AST): string =>
  SchemaAST.resolveAt<string>("expected")(ast) ?? words[ast._tag] ?? "a known value"

const isConstant = (ast: SchemaAST.AST): boolean =>
  SchemaAST.isLiteral(ast) || (SchemaAST.isUnion(ast) && ast.types.every(isConstant))

const object = (ast: SchemaAST.Objects): Part => {
  const essential = Model.essentialOf(ast)
  const members = ast.propertySignatures.map(({ name, type }) => ({
    name: String(name),
    type: compile(type),
    isOptional: SchemaAST.isOptional(type),
    isEssential: essential.includes(String(name))
  }))
  const constants = ast.propertySignatures.filter(({ type }) => isConstant(type) && !SchemaAST.isOptional(type))
    .map(({ name, type }) => ({ name, is: Schema.is(Schema.make<Schema.Top>(type)) }))
  const whole = part(
    "an object",
    Predicate.isObject,
    (value, walk) =>
      members.every(({ isEssential, isOptional, name, type }) => {
        const member = Object.hasOwn(value, name) ? value[name] : undefined
        if (isNothing(member, type)) {
          delete value[name]
          if (isOptional) return true
        }
        if (walk.at(name, type, member)) return true
        delete value[name]
        return !isEssential
      })
  )
  if (constants.length === 0) return whole
  return {
    ...whole,
    isMember: (value) => Predicate.isObject(value) && constants.every(({ is, name }) => is(Reflect.get(value, name)))
  }
}

const array = (ast: SchemaAST.Arrays): Part => {
  const [item] = ast.rest
  if (item === undefined) return part("an array", Array.isArray)
  const type = compile(item)
  // In an array of numbers each index has a meaning: the two of a position, the four of a box.
  const isWhole = SchemaAST.isNumber(item) || Model.essentialOf(ast).includes("items")
  return part("an array", isArray, (value, walk) => {
    let kept = 0
    for (const [i, member] of value.entries()) {
      if (!isWhole && isNothing(member, type)) continue
      if (walk.at(i, type, member)) value[kept++] = member
      else if (isWhole) return false
    }
    value.length = kept
    return true
  })
}

/** The first member that accepts a value and has its constants repairs it. */
const union = (members: ReadonlyArray<Part>): Part => {
  const of = (value: unknown) =>
    members.find(({ accepts, isMember }) => accepts(value) && (isMember === undefined || isMember(value)))
  return {
    expected: members.map(({ expected }) => expected).join(" or "),
    accepts: (value) => of(value) !== undefined,
    repair(value, walk) {
      const member = of(value)
      if (member !== undefined) return member.repair(value, walk)
      walk.note(this.expected, value)
      return false
    }
  }
}

/** Services send `null` for an absent value, unless it is one of the values. */
const isNothing = (value: unknown, { accepts }: Part): boolean =>
  value === undefined || (value === null && !accepts(null))

const isArray = (value: unknown): value is Array<unknown> => Array.isArray(value)
