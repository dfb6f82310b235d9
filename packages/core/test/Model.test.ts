import { assert, describe, it } from "@effect/vitest"
import { Predicate, Schema, SchemaAST } from "effect"
import { SchemaJITCompiler } from "effect/schema"
import * as Model from "../src/schema/Model.ts"
import { CountBucket } from "../src/schema/models/CountBucket.ts"
import { DirectMessageEvent } from "../src/schema/models/DirectMessageEvent.ts"
import { Includes } from "../src/schema/models/Includes.ts"
import { List } from "../src/schema/models/List.ts"
import { Media } from "../src/schema/models/Media.ts"
import { Meta } from "../src/schema/models/Meta.ts"
import { Place } from "../src/schema/models/Place.ts"
import { Poll } from "../src/schema/models/Poll.ts"
import { Post } from "../src/schema/models/Post.ts"
import { Space } from "../src/schema/models/Space.ts"
import { Topic } from "../src/schema/models/Topic.ts"
import { User } from "../src/schema/models/User.ts"
import facts from "./fixtures/resources.json" with { type: "json" }

const models: ReadonlyArray<Model.AnyModel> = [Post, User, Space, List, DirectMessageEvent, Media, Place, Poll, Topic]

/** The shape of a schema as the fixture spells it. */
const shape = (ast: SchemaAST.AST): unknown => {
  if (SchemaAST.isString(ast)) return Model.knownValues(ast)?.join(" | ") ?? "string"
  if (SchemaAST.isBoolean(ast)) return "boolean"
  if (SchemaAST.isNumber(ast)) return ast.checks === Schema.Int.ast.checks ? "integer" : "number"
  if (SchemaAST.isAny(ast)) return "json"
  if (SchemaAST.isArrays(ast)) return ast.rest.map(shape)
  // What the specification says is one of them.
  if (SchemaAST.isUnion(ast)) return shape(ast.types.find(SchemaAST.isObjects)!)
  if (SchemaAST.isObjects(ast)) {
    return Object.fromEntries(
      ast.propertySignatures.map((
        { name, type }
      ) => [SchemaAST.isOptional(type) ? `${String(name)}?` : name, shape(type)])
    )
  }
  return assert.fail(`no shape for ${ast._tag}`)
}

/** A shape, with what a fact promises and the live service leaves out as if it were promised. */
const relaxed = (shape: unknown, fact: unknown): unknown => {
  if (Array.isArray(shape)) return shape.map((item, i) => relaxed(item, Array.isArray(fact) ? fact[i] : undefined))
  if (!Predicate.isObject(shape) || !Predicate.isObject(fact)) return shape
  return Object.fromEntries(
    Object.entries(shape).map(([key, member]) => {
      const own = !(key in fact) && key.endsWith("?") ? key.slice(0, -1) : key
      return [own, relaxed(member, fact[own as never])]
    })
  )
}

describe("Model", () => {
  it("describes every resource", () => {
    assert.deepStrictEqual(
      models.map((model) => model.kind),
      facts.models.map((fact) => fact.kind) as Array<Model.Kind>
    )
  })

  for (const fact of facts.models) {
    const model = models.find((model) => model.kind === fact.kind)!

    it(`${fact.kind}: identifier, selector, bucket, defaults, expansions`, () => {
      assert.strictEqual(model.identifier, fact.identifier)
      assert.strictEqual(model.selector ?? null, fact.selector)
      assert.strictEqual(model.includes ?? null, fact.includes)
      assert.deepStrictEqual(model.defaults, fact.defaults)
      assert.deepStrictEqual(Object.keys(model.expansions).sort(), fact.expansions)
    })

    it(`${fact.kind}: fields and their types`, () => {
      assert.deepStrictEqual(Object.keys(model.fields).sort(), Object.keys(fact.fields))
      assert.deepStrictEqual([...model.selectable].sort(), fact.selectable)
      for (const [name, expected] of Object.entries(fact.fields)) {
        // The service does not say what these are.
        if (expected !== null) assert.deepStrictEqual(relaxed(shape(model.fields[name]!.ast), expected), expected, name)
      }
    })

    it(`${fact.kind}: an object needs its identifier and no other field`, () => {
      const is = Schema.is(model.schema)
      assert.isTrue(is({ [model.identifier]: "1" }))
      assert.isTrue(is({ [model.identifier]: "1", not_known_yet: { a: 1 } }))
      assert.isFalse(is({}))
      assert.isFalse(is({ [model.identifier]: 1 }))
      for (const [name, expected] of Object.entries(fact.fields)) {
        if (expected !== null) assert.isFalse(is({ [model.identifier]: "1", [name]: Symbol() }), name)
      }
    })
  }

  it("default fields exist", () => {
    for (const model of models) assert.includeMembers(Object.keys(model.fields), [...model.defaults])
  })

  it("expansions bring what has a bucket", () => {
    for (const model of models) {
      for (const kind of Object.values(model.expansions)) {
        assert.isDefined(models.find((model) => model.kind === kind)?.includes, kind)
      }
    }
  })

  it("count buckets, includes, meta", () => {
    assert.deepStrictEqual(shape(CountBucket.ast), facts.countBucket)
    const counts = ["created", "deleted", "invalid", "not_created", "not_deleted", "valid"]
    assert.deepStrictEqual(shape(Meta.ast), {
      ...facts.meta,
      // Of rules of the filtered stream.
      "sent?": "string",
      // Of encrypted chats.
      "conversation_key_events?": ["string"],
      "has_message_requests?": "boolean",
      "has_more?": "boolean",
      "summary?": Object.fromEntries(counts.map((name) => [`${name}?`, "integer"]))
    })
    assert.deepStrictEqual(
      shape(Includes.ast),
      Object.fromEntries(
        Object.entries(facts.includes).map(([bucket, kind]) => [`${bucket}?`, [shape(
          models.find((model) => model.kind === kind)!.schema.ast
        )]])
      )
    )
    assert.isTrue(Schema.is(Includes)({ posts: [{ id: "1" }], not_known_yet: [1] }))
    assert.isFalse(Schema.is(Includes)({ posts: [{}] }))
    assert.isTrue(Schema.is(Meta)({ result_count: 0 }))
  })

  it("known values do not exclude others", () => {
    const state = Model.known("live", "scheduled")
    assert.deepStrictEqual(Model.knownValues(state.ast), ["live", "scheduled"])
    assert.isTrue(Schema.is(state)("somewhere"))
    assert.isFalse(Schema.is(state)(1))
    assert.isUndefined(Model.knownValues(Schema.String.ast))
  })

  describe("a page", () => {
    const page = Schema.Struct({
      data: Schema.optionalKey(Schema.Array(Post.schema)),
      includes: Schema.optionalKey(Includes),
      meta: Schema.optionalKey(Meta)
    })
    SchemaJITCompiler.enable(page.ast)
    const is = Schema.is(page)
    const body = (count: unknown) => ({
      data: [{ id: "1" }, { id: "2", text: "a", entities: { hashtags: [{ start: 0, end: 1, tag: "a" }] } }],
      includes: { users: [{ id: "3", public_metrics: { ...counts, post_count: count } }] },
      meta: { result_count: 2 }
    })
    const counts = { followers_count: 1, following_count: 1, listed_count: 0 }

    it("is verified down to the last field by generated code", () => {
      assert.isTrue(is(body(7)))
      assert.isFalse(is(body("7")))
      assert.isFalse(is(body(0.5)))
      assert.isTrue(is({ meta: { result_count: 0 } }))
      assert.isFalse(is({ data: [{ id: "1" }, { id: 2 }] }))
    })

    it("names the place of a mistake", () => {
      const failure = Schema.decodeUnknownResult(page)(body("7"))
      assert.strictEqual(failure._tag, "Failure")
      assert.include(String(failure), "[\"includes\"][\"users\"][0][\"public_metrics\"][\"post_count\"]")
    })

    it("has leaves that JSON codecs leave alone", () => {
      assert.strictEqual(Schema.toCodecJson(page).ast, page.ast)
    })
  })
})
