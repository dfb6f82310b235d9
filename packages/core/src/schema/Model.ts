/**
 * A resource of the service as data: its fields, its default fields, the parameter that selects the others, and the results
 * of its expansions.
 */
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"

/** The resources of the service. */
export type Kind =
  | "post"
  | "user"
  | "space"
  | "list"
  | "dm_event"
  | "compliance_job"
  | "media"
  | "place"
  | "poll"
  | "topic"
  | "community"
  | "trend"
  | "personalized_trend"
  | "usage"
  | "connection"
  | "like_with_post_author"
  | "webhook_config"
  | "chat_conversation"
  | "chat_message_event"
  | "public_key"
  | "broadcast"
  | "broadcast_chat_message"
  | "note"
  | "news"
  | "analytics"
  | "media_analytics"

/** The field that identifies a resource. */
export type Identifier<K extends Kind> = K extends "media" | "media_analytics" ? "media_key"
  : K extends "public_key" ? "public_key_version"
  : K extends "usage" ? "project_id"
  : K extends "trend" | "personalized_trend" ? "trend_name"
  : "id"

/** The parameter that selects fields of a resource. */
export type Selector<K extends Kind> = `${K}_fields`

/** The bucket of a resource in `includes`, `undefined` where it is never included. */
export type Bucket<K extends Kind> = Buckets[K]

interface Buckets {
  readonly post: "posts"
  readonly user: "users"
  readonly space: undefined
  readonly list: undefined
  readonly dm_event: undefined
  readonly compliance_job: undefined
  readonly media: "media"
  readonly place: "places"
  readonly poll: "polls"
  readonly topic: "topics"
  readonly community: undefined
  readonly trend: undefined
  readonly personalized_trend: undefined
  readonly usage: undefined
  readonly connection: undefined
  readonly like_with_post_author: undefined
  readonly webhook_config: undefined
  readonly chat_conversation: undefined
  readonly chat_message_event: undefined
  readonly public_key: undefined
  readonly broadcast: undefined
  readonly broadcast_chat_message: undefined
  readonly note: undefined
  readonly news: undefined
  readonly analytics: undefined
  readonly media_analytics: undefined
}

/** A resource as data. */
export interface Model<
  K extends Kind,
  Fields extends Schema.Struct.Fields,
  Default extends keyof Fields & string,
  Expansions extends Readonly<Record<string, Kind>>,
  Selectable extends keyof Fields & string = keyof Fields & string
> {
  readonly kind: K
  readonly identifier: Identifier<K>
  readonly selector: Selector<K>
  readonly includes: Bucket<K>
  /** The fields that are delivered by default. */
  readonly defaults: ReadonlyArray<Default>
  /** The fields that the selector accepts; all but those that are only delivered with others. */
  readonly selectable: ReadonlyArray<Selectable>
  /** Every known field; optional where the service may omit it although it was selected. */
  readonly fields: Fields
  /** The kind that each expansion adds to `includes`. */
  readonly expansions: Expansions
  /** Members that some name sets have beside a field instead of inside it, by that field. */
  readonly gathered: Gathered | undefined
  /** The verification of a received object: it has its identifier, and every other known field has its type if present. */
  readonly schema: Schema.Codec<Received<Fields, Identifier<K>>>
}

/** Any model, for code that treats all resources alike. */
export interface AnyModel {
  readonly kind: Kind
  readonly identifier: Identifier<Kind>
  readonly selector: Selector<Kind>
  readonly includes: Bucket<Kind>
  readonly defaults: ReadonlyArray<string>
  readonly selectable: ReadonlyArray<string>
  readonly fields: Schema.Struct.Fields
  readonly expansions: Readonly<Record<string, Kind>>
  readonly gathered: Gathered | undefined
  readonly schema: Schema.Codec<object>
}

/** Names of members, by the field that contains them. */
export type Gathered = Readonly<Record<string, ReadonlyArray<string>>>

/** An object with every field selected. */
export type Type<M extends { readonly fields: Schema.Struct.Fields }> = Schema.Struct.Type<M["fields"]>

/** An object with no field certain but the identifier, and that only where it is always delivered. */
export type Received<Fields extends Schema.Struct.Fields, Id extends PropertyKey> =
  & Schema.Struct.Type<Pick<Fields, Id & keyof Fields>>
  & { readonly [K in keyof Fields as K extends Id ? never : K]?: Fields[K]["Type"] }

/** Describes a resource. */
export const make = <
  const K extends Kind,
  const Fields extends Schema.Struct.Fields,
  const Default extends keyof Fields & string,
  const Expansions extends Readonly<Record<string, Kind>> = {},
  const Unselectable extends keyof Fields & string = never
>(options: {
  readonly kind: K
  readonly identifier: Identifier<K> & keyof Fields
  readonly includes: Bucket<K>
  readonly defaults: ReadonlyArray<Default>
  /** Fields that the selector does not accept. */
  readonly unselectable?: ReadonlyArray<Unselectable>
  readonly fields: Fields
  readonly expansions?: Expansions
  /** Members that some name sets have beside a field instead of inside it. */
  readonly gathered?: Gathered
}): Model<K, Fields, Default, Expansions, Exclude<keyof Fields & string, Unselectable>> => {
  const { expansions, fields, gathered, identifier, kind, unselectable = [], ...rest } = options
  const isSelectable = (key: string): key is Exclude<keyof Fields & string, Unselectable> =>
    !unselectable.some((name) => name === key)
  return {
    ...rest,
    kind,
    identifier,
    selector: `${kind}_fields`,
    fields,
    // The default of the type parameter and of the value are the same.
    expansions: expansions ?? {} as Expansions,
    gathered,
    selectable: Object.keys(fields).filter(isSelectable),
    schema: received<Fields, Identifier<K>>(fields, identifier)
  }
}

/** A string with some known values; others are accepted too, since the service may add values. */
export interface Known<Value extends string> extends Schema.Codec<Value | (string & {}), string> {}

/** Describes a string by its known values. */
export const known = <const Value extends string>(...values: ReadonlyArray<Value>): Known<Value> =>
  Schema.String.annotate({ [knownKey]: values })

/** The known values of a string described by {@link known}. */
export const knownValues = (ast: SchemaAST.AST): ReadonlyArray<string> | undefined =>
  SchemaAST.resolveAt<ReadonlyArray<string>>(knownKey)(ast)

/** A field that the service calls by this name in every name set, whatever another field of the same name is called. */
export const called = <S extends Schema.Top>(name: string, schema: S): S["Rebuild"] =>
  schema.annotate({ [calledKey]: name })

/** The name that the service has for a field described by {@link called}. */
export const calledOf = (ast: SchemaAST.AST | undefined): string | undefined =>
  ast === undefined ? undefined : SchemaAST.resolveAt<string>(calledKey)(ast)

/**
 * Names the members that a value of a schema cannot lack; for an array this is `items`, none of which may be missing.
 * Anything else that a body lacks is reported and omitted.
 */
export const essential = <S extends Schema.Top>(schema: S, ...members: ReadonlyArray<string>): S["Rebuild"] =>
  schema.annotate({ [essentialKey]: members })

/** The members named by {@link essential}. */
export const essentialOf = (ast: SchemaAST.AST): ReadonlyArray<string> =>
  SchemaAST.resolveAt<ReadonlyArray<string>>(essentialKey)(ast) ?? []

/** A number that the service sends as text; some services send it as a number. Responses are read either way. */
export const sentAsText = <S extends Schema.Top>(schema: S): S["Rebuild"] => schema.annotate({ [sentAsTextKey]: true })

/** Tests whether the service sends a number as text. */
export const isSentAsText = (ast: SchemaAST.AST): boolean => SchemaAST.resolveAt<boolean>(sentAsTextKey)(ast) === true

/** Any JSON value; its contents are not verified. */
export const Json: Schema.Codec<Schema.Json> = Schema.Any

const calledKey = "@postwire/core/schema/Model/called"
const knownKey = "@postwire/core/schema/Model/known"
const sentAsTextKey = "@postwire/core/schema/Model/sentAsText"
const essentialKey = "@postwire/core/schema/Model/essential"

const received = <Fields extends Schema.Struct.Fields, Id extends PropertyKey>(
  fields: Fields,
  identifier: Id & keyof Fields
): Schema.Codec<Received<Fields, Id>> =>
  // oxlint-disable-next-line postwire/no-blind-assertion -- The compiler cannot follow that all keys but one are made optional.
  essential(
    Schema.Struct(Object.fromEntries(
      Object.entries(fields).map(([key, field]) => [
        key,
        key === identifier || SchemaAST.isOptional(field.ast) ? field : Schema.optionalKey(field)
      ])
    )),
    ...(isOptional(fields[identifier]) ? [] : [String(identifier)])
  ) as never

const isOptional = (field: { readonly ast: SchemaAST.AST } | undefined): boolean =>
  field !== undefined && SchemaAST.isOptional(field.ast)
