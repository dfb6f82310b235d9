/** The schemas of the core as TypeScript types and as JSON Schema, and its parameters as JSON Schema. */
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import type { Definition } from "../../packages/core/src/schema/Definition.ts"
import * as Model from "../../packages/core/src/schema/Model.ts"
import * as Activity from "../../packages/core/src/schema/models/Activity.ts"
import { MediaAnalytics, PostAnalytics } from "../../packages/core/src/schema/models/Analytics.ts"
import {
  ArticleBlock,
  ArticleContent,
  ArticleEntity,
  ArticleMedia
} from "../../packages/core/src/schema/models/Article.ts"
import {
  Broadcast,
  BroadcastChatMessage,
  Recurrence,
  ScheduledBroadcast
} from "../../packages/core/src/schema/models/Broadcast.ts"
import {
  ActionSignature,
  ChatConversation,
  ChatMessageEvent,
  ParticipantKey,
  PublicKey
} from "../../packages/core/src/schema/models/Chat.ts"
import { Community } from "../../packages/core/src/schema/models/Community.ts"
import { CommunityNote } from "../../packages/core/src/schema/models/CommunityNote.ts"
import {
  LikeComplianceEvent,
  PostComplianceEvent,
  PostLabelEvent,
  UserComplianceEvent
} from "../../packages/core/src/schema/models/ComplianceEvents.ts"
import { ComplianceJob } from "../../packages/core/src/schema/models/ComplianceJob.ts"
import { Connection } from "../../packages/core/src/schema/models/Connection.ts"
import { CountBucket } from "../../packages/core/src/schema/models/CountBucket.ts"
import { DirectMessageEvent } from "../../packages/core/src/schema/models/DirectMessageEvent.ts"
import {
  Annotation,
  Entities,
  MentionEntity,
  TagEntity,
  TextEntities,
  UrlEntity
} from "../../packages/core/src/schema/models/Entities.ts"
import { Includes } from "../../packages/core/src/schema/models/Includes.ts"
import { Like } from "../../packages/core/src/schema/models/Like.ts"
import { List } from "../../packages/core/src/schema/models/List.ts"
import { Media } from "../../packages/core/src/schema/models/Media.ts"
import { Meta } from "../../packages/core/src/schema/models/Meta.ts"
import { News } from "../../packages/core/src/schema/models/News.ts"
import { PersonalizedTrend } from "../../packages/core/src/schema/models/PersonalizedTrend.ts"
import { Place } from "../../packages/core/src/schema/models/Place.ts"
import { Poll } from "../../packages/core/src/schema/models/Poll.ts"
import { Post } from "../../packages/core/src/schema/models/Post.ts"
import { Problem } from "../../packages/core/src/schema/models/Problem.ts"
import { Space } from "../../packages/core/src/schema/models/Space.ts"
import { StreamRule, StreamRuleCounts } from "../../packages/core/src/schema/models/StreamRule.ts"
import { Topic } from "../../packages/core/src/schema/models/Topic.ts"
import { Trend } from "../../packages/core/src/schema/models/Trend.ts"
import { Usage } from "../../packages/core/src/schema/models/Usage.ts"
import { User } from "../../packages/core/src/schema/models/User.ts"
import { StreamWebhook, Webhook, WebhookReplay } from "../../packages/core/src/schema/models/Webhook.ts"
import * as Parameters from "../../packages/core/src/schema/Parameters.ts"
import type { WireName } from "../../packages/core/src/schema/WireName.ts"
import { named } from "../../packages/core/src/wire/Wire.ts"
import * as ParameterSchema from "../drift/ParameterSchema.ts"

/** A JSON Schema, or a part of one. */
export type JsonSchema = { readonly [keyword: string]: unknown }

type AnySchema = { readonly ast: SchemaAST.AST }

/** The resources by the names of their models. */
export const models: Readonly<Record<string, Model.AnyModel>> = {
  Post,
  User,
  Space,
  List,
  DirectMessageEvent,
  ComplianceJob,
  Media,
  Place,
  Poll,
  Topic,
  Community,
  Trend,
  PersonalizedTrend,
  Usage,
  Connection,
  Like,
  Webhook,
  ChatConversation,
  ChatMessageEvent,
  PublicKey,
  Broadcast,
  BroadcastChatMessage,
  CommunityNote,
  News,
  PostAnalytics,
  MediaAnalytics
}

/** The other structures that have a name. */
export const structures = {
  ActionSignature,
  ActivityFilter: Activity.ActivityFilter,
  ActivitySubscription: Activity.ActivitySubscription,
  Annotation,
  ArticleBlock,
  ArticleContent,
  ArticleEntity,
  ArticleMedia,
  BroadcastActivity: Activity.BroadcastActivity,
  BroadcastMessage: Activity.BroadcastMessage,
  ChatActivity: Activity.ChatActivity,
  CountBucket,
  DirectMessageActivity: Activity.DirectMessageActivity,
  Entities,
  Includes,
  LikeActivity: Activity.LikeActivity,
  LikeComplianceEvent,
  MentionEntity,
  Meta,
  NewsActivity: Activity.NewsActivity,
  ParticipantKey,
  PostActivity: Activity.PostActivity,
  PostComplianceEvent,
  PostDeletion: Activity.PostDeletion,
  PostLabelEvent,
  Problem,
  ProfileActivity: Activity.ProfileActivity,
  Recurrence,
  RelationActivity: Activity.RelationActivity,
  RevocationActivity: Activity.RevocationActivity,
  ScheduledBroadcast,
  SpaceActivity: Activity.SpaceActivity,
  StreamRule,
  StreamRuleCounts,
  StreamWebhook,
  TagEntity,
  TextEntities,
  UnlistedActivity: Activity.UnlistedActivity,
  UrlEntity,
  UserComplianceEvent,
  WebhookReplay
}

/** A key of a body, or a parameter of a path, as a wire spells it. */
export const nameOn = (wire: WireName, name: string): string => named[wire].bodyKey(name)

/** A member of a structure as a wire spells it. */
const memberOn = (wire: WireName, ast: SchemaAST.AST, name: string): string =>
  Object.keys(Object(named[wire].fromNeutral({ ast })({ [name]: null })))[0] ?? name

/** A schema as a TypeScript type, structures by their names. */
export const typeOf = (ast: SchemaAST.AST): string => nameOf(ast) ?? typeStructure(ast)

/** A schema as a TypeScript type, itself spelled out. */
export const typeStructure = (ast: SchemaAST.AST): string => {
  switch (ast._tag) {
    case "Objects":
      return isRecord(ast) ? "Record<string, Json>" : `{ ${members(ast).join("; ")} }`
    case "Arrays":
      return ast.rest.map((item) => `Array<${typeOf(item)}>`).join()
    case "Union":
      return [...new Set(ast.types.map(typeOf))].join(" | ")
    case "Literal":
      return JSON.stringify(ast.literal)
    case "Any":
      return "Json"
    case "String":
      if (Model.knownValues(ast)?.join() === Activity.eventTypes.join()) return "EventType | string"
      return [...(Model.knownValues(ast) ?? []).map((value) => `"${value}"`), "string"].join(" | ")
    case "Declaration":
      return "string"
    case "BigInt":
    case "Boolean":
    case "Number":
      return ast._tag.toLowerCase()
    default:
      throw new Error(`no type for ${ast._tag}`)
  }
}

/** Returns true if a structure is any JSON object. */
const isRecord = ({ indexSignatures, propertySignatures }: SchemaAST.Objects): boolean =>
  indexSignatures.length > 0 && propertySignatures.length === 0

/** The TypeScript type of a parameter's argument. */
export const typeOfParameter = ({ kind, schema: { ast } }: Parameters.AnyParameter): string => {
  switch (kind) {
    case "timestamp":
      return "Date | DateTime | string"
    case "bytes":
      return "Uint8Array | ArrayBuffer | Blob"
    default:
      return typeOf(ast)
  }
}

/** The members of a structure as TypeScript declares them. */
export const members = (ast: SchemaAST.Objects): ReadonlyArray<string> =>
  ast.propertySignatures.map(({ name, type }) =>
    `${String(name)}${SchemaAST.isOptional(type) ? "?" : ""}: ${typeOf(type)}`
  )

/** A schema as JSON Schema with the names of a wire, structures as references to their components. */
export const jsonSchemaOf = (ast: SchemaAST.AST, wire: WireName): JsonSchema => {
  const name = nameOf(ast)
  return name === undefined ? jsonStructure(ast, wire) : { $ref: `#/components/schemas/${name}` }
}

/** The components to which {@link jsonSchemaOf} refers. */
export const components = (wire: WireName): Readonly<Record<string, JsonSchema>> => ({
  ...Object.fromEntries(
    Object.entries(models).map(([name, { defaults, fields, schema }]) => [name, {
      ...jsonStructure(schema.ast, wire),
      // The verifier checks less than the service promises.
      required: defaults.filter((key) => !isOptional(fields[key])).map((key) => memberOn(wire, schema.ast, key))
    }])
  ),
  ...Object.fromEntries(Object.entries(structures).map(([name, { ast }]) => [name, jsonStructure(ast, wire)]))
})

/** The known values of a parameter of an operation as a wire says them: none of a selector that it does not send. */
export const valuesOn = (
  definition: Definition,
  name: string,
  { values }: Parameters.AnyParameter,
  wire: WireName
): ReadonlyArray<string> | undefined => {
  const say = Parameters.isSelector(name) ? named[wire].selector(definition, name) : undefined
  return say === undefined
    ? values?.map(named[wire].value)
    : values?.map(say).flatMap(({ expansions, names }) => name === "expansions" ? expansions : names)
}

/** A parameter as JSON Schema with the names of a wire. */
export const parameterSchema = (
  parameter: Parameters.AnyParameter,
  values = parameter.values
): JsonSchema => ({
  ...parameterType(parameter, values),
  ...ParameterSchema.boundsOf(parameter),
  ...(parameter.default === undefined ? {} : { default: parameter.default })
})

const nameOf = (ast: SchemaAST.AST): string | undefined => names.get(identityOf(ast))

// A schema made optional is another one, of the same members.
const identityOf = (ast: SchemaAST.AST): unknown => ast._tag === "Objects" ? ast.propertySignatures : ast

const names: ReadonlyMap<unknown, string> = new Map([
  ...Object.entries(models).map(([name, { schema }]) => [identityOf(schema.ast), name] as const),
  ...Object.entries(structures).map(([name, { ast }]) => [identityOf(ast), name] as const)
])

const jsonStructure = (ast: SchemaAST.AST, wire: WireName): JsonSchema => {
  switch (ast._tag) {
    case "Objects": {
      if (isRecord(ast)) return { type: "object" }
      const required = ast.propertySignatures.filter(({ type }) => !SchemaAST.isOptional(type))
      return {
        type: "object",
        properties: Object.fromEntries(
          ast.propertySignatures.map(({ name, type }) => [memberOn(wire, ast, String(name)), jsonSchemaOf(type, wire)])
        ),
        ...(required.length === 0 ? {} : { required: required.map(({ name }) => memberOn(wire, ast, String(name))) })
      }
    }
    case "Arrays":
      return { type: "array", items: jsonSchemaOf(ast.rest[0]!, wire) }
    case "Union":
      return ast.types.every(SchemaAST.isLiteral)
        ? { enum: ast.types.map(({ literal }) => literal) }
        : { oneOf: ast.types.map((type) => jsonSchemaOf(type, wire)) }
    case "String": {
      const known = Model.knownValues(ast)
      return known === undefined ? textType({ ast }) : open(known.map(named[wire].fromNeutral({ ast })))
    }
    case "Number":
      return Model.isSentAsText(ast) ? { type: "string" } : plainType(ast)
    default:
      return plainType(ast)
  }
}

/** A schema by its type alone: the bounds of safe integers say nothing about the service. */
const plainType = (ast: SchemaAST.AST): JsonSchema => {
  const { type } = jsonSchema({ ast })
  return type === undefined ? {} : { type }
}

const jsonSchema = ({ ast }: AnySchema): JsonSchema => Schema.toJsonSchemaDocument(Schema.make(ast)).schema

/** A string of which some values are known. */
const open = (known: ReadonlyArray<unknown>): JsonSchema => ({ anyOf: [{ enum: known }, { type: "string" }] })

const parameterType = (
  parameter: Parameters.AnyParameter,
  values: ReadonlyArray<string> | undefined
): JsonSchema => {
  const { kind, open: isOpen = false, schema } = parameter
  // Bytes are none.
  const { minItems, type } = kind === "bytes" ? {} : jsonSchema(schema)
  switch (kind) {
    case "list": {
      const item = ParameterSchema.itemOf(parameter)
      const items = isOpen ? open(values ?? []) : item === undefined ? { type: "string" } : textType(item)
      return {
        type: "array",
        items: { ...items, ...ParameterSchema.itemBoundsOf(parameter) },
        ...(minItems === undefined ? {} : { minItems })
      }
    }
    case "choice":
      return isOpen ? open(values ?? []) : { enum: values }
    case "timestamp":
      return { type: "string", format: "date-time" }
    case "id":
    case "text":
    case "token":
      return textType(schema)
    case "boolean":
      return { type: kind, ...(SchemaAST.isLiteral(schema.ast) ? { enum: [schema.ast.literal] } : {}) }
    case "bytes":
      return { type: "string", contentMediaType: "application/octet-stream" }
    case "json":
      return type === "array" ? { type, items: membersOf(schema.ast) } : structureOf(schema.ast)
    default:
      return SchemaAST.toEncoded(schema.ast)._tag === "String" ? textType(schema) : { type }
  }
}

/** The items of a list of objects. */
const membersOf = (ast: SchemaAST.AST): JsonSchema => structureOf(SchemaAST.isArrays(ast) ? ast.rest[0] : undefined)

/** The schema of an object in a body, with its members where these are known. */
const structureOf = (ast: SchemaAST.AST | undefined): JsonSchema => {
  const sent = ast && SchemaAST.toEncoded(ast)
  return sent !== undefined && SchemaAST.isObjects(sent) && !isRecord(sent)
    ? jsonStructure(sent, "neutral")
    : { type: "object" }
}

const textType = (schema: AnySchema): JsonSchema => {
  const { minLength } = jsonSchema(schema)
  const pattern = ParameterSchema.patternOf(schema)
  return {
    type: "string",
    ...(minLength === undefined ? {} : { minLength }),
    ...(pattern === undefined ? {} : { pattern })
  }
}

const isOptional = (field: AnySchema | undefined): boolean => field !== undefined && SchemaAST.isOptional(field.ast)
