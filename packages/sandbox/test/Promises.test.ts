import { assert, describe, it } from "@effect/vitest"
import { catalogue, type Name } from "@postwire/core/Catalogue"
import { bearerOf, type Definition, parametersOf as declared, successStatus } from "@postwire/core/schema/Definition"
import type { AnyModel } from "@postwire/core/schema/Model"
import { MediaAnalytics, PostAnalytics } from "@postwire/core/schema/models/Analytics"
import { Broadcast, BroadcastChatMessage } from "@postwire/core/schema/models/Broadcast"
import { ChatConversation, ChatMessageEvent, PublicKey } from "@postwire/core/schema/models/Chat"
import { Community } from "@postwire/core/schema/models/Community"
import { CommunityNote } from "@postwire/core/schema/models/CommunityNote"
import { ComplianceJob } from "@postwire/core/schema/models/ComplianceJob"
import { DirectMessageEvent } from "@postwire/core/schema/models/DirectMessageEvent"
import { List } from "@postwire/core/schema/models/List"
import { Media } from "@postwire/core/schema/models/Media"
import { News } from "@postwire/core/schema/models/News"
import { PersonalizedTrend } from "@postwire/core/schema/models/PersonalizedTrend"
import { Place } from "@postwire/core/schema/models/Place"
import { Poll } from "@postwire/core/schema/models/Poll"
import { Post } from "@postwire/core/schema/models/Post"
import { Space } from "@postwire/core/schema/models/Space"
import { Topic } from "@postwire/core/schema/models/Topic"
import { Trend } from "@postwire/core/schema/models/Trend"
import { Usage } from "@postwire/core/schema/models/Usage"
import { User } from "@postwire/core/schema/models/User"
import { Webhook } from "@postwire/core/schema/models/Webhook"
import { isSelector } from "@postwire/core/schema/Parameters"
import * as ResponseDecoder from "@postwire/core/wire/ResponseDecoder"
import * as Wire from "@postwire/core/wire/Wire"
import { Effect, Predicate, SchemaAST } from "effect"
import { TestClock } from "effect/testing"
import { names, requestOf, scene } from "./support/Operations.ts"
import { day, make, now } from "./support/Requests.ts"

const models: ReadonlyArray<AnyModel> = [
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
  Usage,
  Community,
  Trend,
  PersonalizedTrend,
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
]

const definitionOf = (name: Name): Definition => catalogue[name].definition

/** Every field and expansion that an operation knows. */
const everything = (definition: Definition): Readonly<Record<string, ReadonlyArray<string>>> =>
  Object.fromEntries(
    Object.entries(declared(definition)).flatMap(([name, { values }]) =>
      isSelector(name) && values !== undefined ? [[name, values]] : []
    )
  )

const listOf = (value: unknown): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value : value === undefined ? [] : [value]

/** What a type promises of an object of which these fields were asked for. */
const promised = ({ defaults, fields, selector }: AnyModel, asked: Readonly<Record<string, ReadonlyArray<string>>>) =>
  [...defaults, ...selector === undefined ? [] : asked[selector] ?? []].filter((name) =>
    fields[name] !== undefined && !SchemaAST.isOptional(fields[name].ast)
  )

/** Members that an answer is nothing without: the envelope, and what identifies an item or a page. */
const essential =
  /^(data|includes|errors|meta)$|^data\.(\d+|(\d+\.)?(id|media_key|trend_name))$|^includes\.[a-z]+$|_token$/

const placesIn = (value: unknown, above: ReadonlyArray<string> = []): ReadonlyArray<ReadonlyArray<string>> =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([key, member]) => [[...above, key], ...placesIn(member, [...above, key])])
    : []

/** Whatever else is malformed in an answer, the rest of it is read. */
const assertMends = (definition: Definition, body: object, seed: number) => {
  const places = placesIn(body).filter((place) => !essential.test(place.join(".")))
  const values = seed % 2 === 0 ? [null, "a", { a: [null] }] : [7.5, [{ a: 1 }], true]
  for (const [i, value] of values.entries()) {
    const place = places[(i * 7919 + seed * 104_729) % places.length]
    if (place === undefined) return
    const malformed: object = structuredClone(body)
    const holder = place.slice(0, -1).reduce<object>((object, key) => Reflect.get(object, key), malformed)
    Reflect.set(holder, place.at(-1)!, value)
    const read = ResponseDecoder.decode(definition, Wire.neutral, JSON.stringify(malformed), {})
    const where = `${definition.name} ${place.join(".")} ${JSON.stringify(value)}`
    if (read instanceof ResponseDecoder.Undecodable) return assert.fail(`${where}: ${read.reason}`)
    assert.strictEqual(listOf(read.data).length, listOf("data" in body ? body.data : undefined).length, where)
  }
}

describe("what types promise", () => {
  // What the service may leave out differs from seed to seed.
  it.effect.each([1, 2])("is in every answer of every operation: seed %s", (seed) =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 300, seed })
      const { seeded: { ada }, store } = bench
      const { list, other, parametersOf } = scene(bench)
      store.lists.setFollower(list, ada.id, true)
      store.spaces.insertTopic({ id: "1", name: "Effects", description: "Of functions" })
      const space = store.spaces.insert({
        creatorId: ada.id,
        title: "effect",
        createdAt: now - day,
        startedAt: now,
        people: { topic_ids: ["1"] }
      })
      const message = requestOf("createDirectMessage", { participant_id: other, text: "Hello" }, ada.id)
      assert.strictEqual(
        (yield* bench.request(message.method, message.path, { as: "user", body: message.body })).status,
        201
      )
      const own: { readonly [N in Name]?: object } = {
        getDirectMessageEvents: {},
        getFollowedLists: { id: ada.id },
        getSpace: { id: space }
      }
      const met = new Set<string>()
      for (const name of names) {
        const definition = definitionOf(name)
        const { result } = definition
        yield* TestClock.adjust("1 second")
        const asked = everything(definition)
        const { body, method, path } = requestOf(name, { ...(own[name] ?? parametersOf(name)), ...asked }, ada.id)
        const as = bearerOf(definition) === "app" ? "app" : "user"
        const answer = yield* bench.request(method, path, { as, body })
        assert.strictEqual(answer.status, successStatus(definition), `${name} ${JSON.stringify(answer.body)}`)
        const response = ResponseDecoder.decode(definition, Wire.neutral, JSON.stringify(answer.body), {}, "strict")
        if (response instanceof ResponseDecoder.Undecodable) return assert.fail(`${name}: ${response.reason}`)
        // Of what is no resource, reading strictly has seen all.
        if (!("model" in result)) continue
        assertMends(definition, response.body, seed)
        const { data, includes } = response.body
        const buckets = new Map<string, unknown>(Predicate.isObject(includes) ? Object.entries(includes) : [])
        const objects = [
          ...listOf(data).map((item) => [result.model, item] as const),
          ...models.flatMap((model) => listOf(buckets.get(model.includes ?? "")).map((item) => [model, item] as const))
        ]
        for (const [model, object] of objects) {
          met.add(model.kind)
          for (const field of promised(model, asked)) assert.property(object, field, `${name} ${model.kind}`)
        }
      }
      assert.sameMembers([...met], models.map(({ kind }) => kind))
    }))
})
