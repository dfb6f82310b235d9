/** The facts of the schemas that the client decodes, with the names of a wire. */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as Model from "../../packages/core/src/schema/Model.ts"
import { MediaAnalytics, PostAnalytics } from "../../packages/core/src/schema/models/Analytics.ts"
import { Broadcast, BroadcastChatMessage } from "../../packages/core/src/schema/models/Broadcast.ts"
import { ChatConversation, ChatMessageEvent, PublicKey } from "../../packages/core/src/schema/models/Chat.ts"
import { Community } from "../../packages/core/src/schema/models/Community.ts"
import { CommunityNote } from "../../packages/core/src/schema/models/CommunityNote.ts"
import { ComplianceJob } from "../../packages/core/src/schema/models/ComplianceJob.ts"
import { Connection } from "../../packages/core/src/schema/models/Connection.ts"
import { DirectMessageEvent } from "../../packages/core/src/schema/models/DirectMessageEvent.ts"
import { Like } from "../../packages/core/src/schema/models/Like.ts"
import { List } from "../../packages/core/src/schema/models/List.ts"
import { Media } from "../../packages/core/src/schema/models/Media.ts"
import { News } from "../../packages/core/src/schema/models/News.ts"
import { PersonalizedTrend } from "../../packages/core/src/schema/models/PersonalizedTrend.ts"
import { Place } from "../../packages/core/src/schema/models/Place.ts"
import { Poll } from "../../packages/core/src/schema/models/Poll.ts"
import { Post } from "../../packages/core/src/schema/models/Post.ts"
import { Problem } from "../../packages/core/src/schema/models/Problem.ts"
import { Space } from "../../packages/core/src/schema/models/Space.ts"
import { Topic } from "../../packages/core/src/schema/models/Topic.ts"
import { Trend } from "../../packages/core/src/schema/models/Trend.ts"
import { Usage } from "../../packages/core/src/schema/models/Usage.ts"
import { User } from "../../packages/core/src/schema/models/User.ts"
import type { Wire } from "../../packages/core/src/wire/Wire.ts"
import * as ParameterSchema from "./ParameterSchema.ts"
import { type Fact, fact, type Facts } from "./ServiceFacts.ts"

const models: ReadonlyArray<Model.AnyModel> = [
  Broadcast,
  BroadcastChatMessage,
  ChatConversation,
  ChatMessageEvent,
  Community,
  CommunityNote,
  ComplianceJob,
  Connection,
  DirectMessageEvent,
  Like,
  List,
  Media,
  MediaAnalytics,
  News,
  PersonalizedTrend,
  Place,
  Poll,
  Post,
  PostAnalytics,
  PublicKey,
  Space,
  Topic,
  Trend,
  Usage,
  User
]

/** The resources by their kind. */
export const resourceFacts = (wire: Wire): Readonly<Record<string, Facts>> =>
  Object.fromEntries(
    [...models.map(({ kind, schema }) => [kind, schema.ast] as const), ["problem", Problem.ast] as const].map((
      [kind, ast]
    ) => [kind, schemaFacts(ast, wire)])
  )

// Making a schema optional creates another one with the same members.
const identityOf = (ast: SchemaAST.AST): unknown => ast._tag === "Objects" ? ast.propertySignatures : undefined

const kinds: ReadonlyMap<unknown, string> = new Map([
  ...models.map(({ kind, schema }) => [identityOf(schema.ast), kind] as const),
  [identityOf(Problem.ast), "problem"] as const
])

const kindOf = (ast: SchemaAST.AST): string | undefined => kinds.get(identityOf(ast))

/** The members of a schema by their path. */
export const schemaFacts = (ast: SchemaAST.AST, wire: Wire): Facts => {
  // Translates an example to the wire in which each value refers to its fact: that yields the names on the wire.
  const found: Array<Fact> = []
  const facts: Record<string, Fact> = {}
  const walk = (members: unknown, place: string): void => {
    if (!Predicate.isObject(members)) return
    for (const [name, value] of Object.entries(members)) {
      if (name === self) continue
      const at = `${place}${name}`
      const [own, inside, end] = Array.isArray(value)
        ? [value[0], value[1], "[]."]
        : Predicate.isObject(value)
        ? [value[self], value, "."]
        : [value, undefined, ""]
      const fact = found[Number(own)]
      if (fact !== undefined) facts[at] = fact
      walk(inside, `${at}${end}`)
    }
  }
  const example = membersOf(ast, wire, found)
  walk(wire.fromNeutral({ ast })(example), "")
  return facts
}

/** The member by which an object of an example refers to its fact. */
const self = "~"

type Example = string | ReadonlyArray<unknown> | { readonly [name: string]: Example }

const membersOf = (
  given: SchemaAST.AST,
  wire: Wire,
  found: Array<Fact>
): { readonly [name: string]: Example } => {
  const ast = plain(given)
  if (ast._tag !== "Objects") return {}
  return Object.fromEntries(
    ast.propertySignatures.map(({ name, type }) => [
      String(name),
      exampleOf(type, wire, found, !SchemaAST.isOptional(type))
    ])
  )
}

const exampleOf = (given: SchemaAST.AST, wire: Wire, found: Array<Fact>, required: boolean): Example => {
  const ast = plain(given)
  const item = ast._tag === "Arrays" && ast.rest[0] !== undefined ? plain(ast.rest[0]) : undefined
  const own = String(found.length)
  const pattern = ParameterSchema.patternOf({ ast })
  found.push(
    fact({
      type: typeOf(ast),
      required,
      values: valuesOf(item ?? ast, wire),
      bounds: pattern === undefined ? {} : { pattern }
    })
  )
  if (item !== undefined) return kindOf(item) === undefined ? [own, membersOf(item, wire, found)] : [own]
  if (ast._tag !== "Objects" || kindOf(ast) !== undefined) return own
  return { [self]: own, ...membersOf(ast, wire, found) }
}

/** A schema without suspensions, null and undefined. */
const plain = (ast: SchemaAST.AST): SchemaAST.AST => {
  if (ast._tag === "Suspend") return plain(ast.thunk())
  if (ast._tag !== "Union") return ast
  const [first, ...others] = ast.types.filter(({ _tag }) => _tag !== "Null" && _tag !== "Undefined")
  return first === undefined || others.length > 0 ? ast : plain(first)
}

const typeOf = (ast: SchemaAST.AST): string => {
  const kind = kindOf(ast)
  if (kind !== undefined) return kind
  switch (ast._tag) {
    case "Arrays":
      return `array of ${ast.rest[0] === undefined ? "any" : typeOf(plain(ast.rest[0]))}`
    case "Objects":
      return "object"
    case "Boolean":
    case "String":
      return ast._tag.toLowerCase()
    case "Number":
      return Model.isSentAsText(ast) ? "string" : Schema.is(Schema.make(ast))(0.5) ? "number" : "integer"
    default:
      return "any"
  }
}

const valuesOf = (ast: SchemaAST.AST, wire: Wire): ReadonlyArray<string> | undefined => {
  const known = ast._tag === "String" ? Model.knownValues(ast) : undefined
  return known?.map((value) => String(wire.fromNeutral({ ast })(value)))
}
