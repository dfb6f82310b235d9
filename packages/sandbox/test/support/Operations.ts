/** Every operation with parameters that the service accepts, as requests of both wires. */
import { catalogue, type Name } from "@postwire/core/Catalogue"
import type { Definition } from "@postwire/core/schema/Definition"
import type * as Multipart from "@postwire/core/schema/Multipart"
import { scopes } from "@postwire/core/schema/Scopes"
import type { WireName } from "@postwire/core/schema/WireName"
import * as RequestEncoder from "@postwire/core/wire/RequestEncoder"
import * as Words from "@postwire/core/wire/Wire"
import * as Redacted from "effect/Redacted"
import { parameters as examples } from "../../../../examples/reference/parameters.ts"
import * as MediaBytes from "../../../core/test/support/MediaBytes.ts"
import { idOf as broadcastId } from "../../src/projection/Broadcast.ts"
import * as Receiver from "./Receiver.ts"
import { type Bench, day, minute, now } from "./Requests.ts"

/** Every operation that answers once with an envelope. What answers with a file or a document has tests of its own, and streams have. */
export const names = Object.values(catalogue).map(({ definition }): Definition => definition)
  .filter(({ live, result }) => result._tag !== "Bytes" && result._tag !== "Document" && live === undefined).map((
    { name }
  ) => name as Name)
  .filter((name, i, all) => all.indexOf(name) === i)

/** What is said to uploads that are not media yet. */
const sessions: ReadonlyArray<Name> = ["appendMediaUpload", "finalizeMediaUpload", "getMediaUploadStatus"]

/** A request. */
export interface Sent {
  readonly method: string
  readonly path: string
  readonly body: string | undefined
}

/** The request of a call by `identity`. Bounds are left to the service. */
export const requestOf = (name: Name, parameters: object, identity: string, wire: WireName = "neutral"): Sent => {
  const prepared = RequestEncoder.encode(catalogue[name].definition, parameters, Words.named[wire], {
    checks: "identifiers"
  })
  if ("_tag" in prepared) throw new Error(`${name}: ${prepared.message}`)
  const { body, identityAt, method, path, query } = prepared
  const whole = identityAt === undefined ? path : path.slice(0, identityAt) + identity + path.slice(identityAt)
  return {
    method,
    path: query === "" ? whole : `${whole}?${query}`,
    body: typeof body === "object" ? jsonOf(body) : body
  }
}

/** A body of parts as the JSON that the service takes in its place. */
const jsonOf = ({ parts }: Multipart.Body): string =>
  JSON.stringify(
    Object.fromEntries(
      parts.map((part) => [
        part.name,
        "text" in part
          ? part.name === "segment_index" ? Number(part.text) : part.text
          : part.bytes instanceof Blob
          ? ""
          : Buffer.from(part.bytes).toString("base64")
      ])
    )
  )

/** Things for ada to act on, and parameters that act on them. */
export const scene = ({ seeded: { ada, consumerKey }, store }: Pick<Bench, "seeded" | "store">) => {
  const other = store.users.insert({ username: "Grace_H", name: "Grace", createdAt: now - 900 * day })
  store.users.insert({ username: "grace", name: "Another Grace", createdAt: now - 800 * day })
  const post = store.posts.insert({ authorId: other, text: "needle @ada", createdAt: now - 5 * minute })
  const root = store.posts.insert({ authorId: ada.id, text: "root", createdAt: now - 4 * minute })
  const reply = store.posts.insert({ authorId: other, text: "no", createdAt: now - 3 * minute, inReplyToPostId: root })
  const list = store.lists.insert({ ownerId: other, name: "List", createdAt: now - day })
  const space = store.spaces.insert({ creatorId: ada.id, title: "Needle talk", createdAt: now - day, startedAt: now })
  store.users.update(ada.id, "profile.update.bio", "An AI Note Writer")
  const story = store.posts.insert({ authorId: other, text: "#lighthouse", createdAt: now - minute })
  store.documents.insert("note", { ownerId: ada.id, createdAt: now, key: post, body: { info: { post_id: post } } })
  let strangers = 0
  let texts = 0
  const stranger = () =>
    store.users.insert({ username: `stranger${++strangers}`, name: "Stranger", createdAt: now - 800 * day })
  // Of ada and in her conversation, so that it can be deleted as well as hidden.
  const own = () =>
    store.posts.insert({ authorId: ada.id, text: "own", createdAt: now - 2 * minute, inReplyToPostId: root })
  const video = () =>
    store.attachments.insertMedia({ ownerId: ada.id, type: "video", createdAt: now, facts: { width: 1, height: 1 } })
  const session = () => {
    const id = store.uploads.begin({
      ownerId: ada.id,
      additionalOwners: [],
      category: undefined,
      mediaType: undefined,
      totalBytes: undefined,
      createdAt: now,
      expiresAt: now + 10 * day
    })
    store.uploads.put(id, 0, MediaBytes.png())
    return id
  }
  const subtitles = () => {
    const id = session()
    const times = { finalizedAt: now, readyAt: now, expiresAt: now + day }
    store.uploads.finish(id, {
      ...times,
      category: "subtitles",
      mediaType: "text/vtt",
      failure: undefined,
      media: undefined
    })
    return id
  }
  const { id: appId = "" } = store.credentials.appByConsumerKey(consumerKey) ?? {}
  // One at a time, because an app may have few.
  const webhook = (app: string) => {
    for (const { id } of store.webhooks.ofApp(app)) store.webhooks.delete(id)
    return store.webhooks.insert({ appId: app, url: addressOf(app), createdAt: now })
  }
  const addressOf = (app: string) => Receiver.addressOf(store.credentials.appById(app)?.consumerSecret)
  const subscription = (app: string) =>
    store.activity.insert({ appId: app, eventType: "like.create", filter: { user_id: ada.id }, now })
  /** Ada, who lets an app read everything. It has no subscriptions. */
  const authorizing = (app: string) => {
    for (const { id } of store.activity.page({ appId: app, limit: 1_000 }).items) store.activity.delete(app, id)
    store.credentials.insertBearerToken({
      token: Redacted.make(`token ${++texts}`),
      appId: app,
      userId: ada.id,
      rights: "read",
      scopes
    })
    return ada.id
  }
  let plan = ""
  /** A broadcast of ada: planned, or running where it has a chat. */
  const broadcast = (name: Name) => {
    const isRunning = /Chat|getBroadcast$/.test(name)
    const body = {
      scheduled_start_ms: now + day,
      scheduled_end_ms: now + 2 * day,
      manual_publish: true,
      source_id: "source",
      title: "Office hours",
      ...isRunning && { live_ms: now }
    }
    plan = store.documents.insert("broadcast", { ownerId: ada.id, createdAt: now, body })
    store.documents.insert("broadcast_message", { ownerId: other, createdAt: now, key: plan, body: { text: "Hi" } })
    return broadcastId(plan)
  }
  const account = (app: string) => {
    const user = stranger()
    for (const { id } of store.webhooks.ofApp(app)) store.webhooks.accounts.set(id, user, true)
    return user
  }
  // One for all, since several parameters name it; others act on groups of their own.
  const chatter = () => {
    const id = stranger()
    store.chats.addPublicKeys(id, { public_key_version: "1", public_key: "BAQx" })
    return id
  }
  const chatted = chatter()
  store.chats.addPublicKeys(ada.id, { public_key_version: "1", public_key: "BAQx" })
  const conversationId = store.chats.open(ada.id, chatted, now - day)
  const group = (name: Name) => {
    const id = store.chats.reserve(ada.id, now - day)
    if (name !== "createChatGroup") {
      store.chats.createGroup(id, "A")
      store.chats.join(id, { members: [ada.id, chatted], admins: [ada.id], eventId: "0" })
    }
    return id
  }
  const shared = group("getChatConversation")
  const chatEvent = () =>
    store.chats.append({
      conversationId,
      senderId: ada.id,
      messageId: `message ${++texts}`,
      type: "message",
      createdAt: now - minute,
      detail: Uint8Array.of(0),
      signature: Uint8Array.of(0)
    }).id
  chatEvent()
  const chatFile = () => {
    const id = store.chats.beginFile(shared, "AbCdEf123", now)
    store.uploads.put(id, 0, Uint8Array.of(1))
    return id
  }
  /** What stands for the things that examples name: new ones for each call, so that none sees what another one did. */
  const cast: Readonly<Record<string, (name: Name, app: string) => string>> = {
    "2244994945": (name, app) =>
      name === "createActivitySubscription"
        ? authorizing(app)
        : name === "deleteAccountActivitySubscription"
        ? account(app)
        : /Chat(Group|Group\w+)$/.test(name)
        ? chatter()
        : /Chat|PublicKeys/.test(name)
        ? chatted
        : stranger(),
    "https://example.com/hook": (_, app) => {
      webhook(app)
      return addressOf(app)
    },
    "1146654567674912769": (name, app) =>
      /[a-z]ActivitySubscriptions?$/.test(name) && !name.includes("Account") ?
        subscription(app) :
        webhook(app),
    "1146654567674912770": (_, app) => subscription(app),
    "783214": chatter,
    "1460323737035677698": own,
    "20": own,
    "1501272736215322629": () => store.communities.insert({ name: "Compilers", createdAt: now - day }),
    "1520262394675200000": () => {
      const id = store.bookmarkFolders.insert({ userId: ada.id, name: "Later", createdAt: now - day })
      store.bookmarkFolders.add(id, root)
      return id
    },
    "1441162269824405510": () => store.lists.insert({ ownerId: ada.id, name: "List", createdAt: now - day }),
    "1880028106020515840": (name) => name.includes("Chat") ? chatFile() : sessions.includes(name) ? session() : video(),
    "1880028106020515841": subtitles,
    g1580705921830768647: (name) => name.includes("ChatMedia") ? shared : group(name),
    "1580705921830768648": chatEvent,
    "1DXxyRYNejbKM": (name) =>
      name.includes("Broadcast")
        ? broadcast(name)
        : store.spaces.insert({ creatorId: ada.id, title: "effect", createdAt: now - day, startedAt: now }),
    "1880028106020515842": () => plan,
    "1880028106020515843": () =>
      store.documents.insert("broadcast_message", { ownerId: other, createdAt: now, key: plan, body: { text: "Hi" } }),
    "1880028106020515844": () =>
      store.documents.insert("note", { ownerId: ada.id, createdAt: now, body: { info: {} } }),
    "1880028106020515845": () =>
      store.documents.insert("article", { ownerId: ada.id, createdAt: now, body: { title: `Title ${++texts}` } }),
    "1880028106020515846": () => story,
    "1580705921830768647": () =>
      store.messages.insert({
        conversationId: store.messages.open(ada.id, other),
        senderId: ada.id,
        createdAt: now - minute,
        text: "Hello"
      }),
    "1372966999991541762": () =>
      store.complianceJobs.insert({ appId, type: "posts", name: "archive", resumable: false, createdAt: now - day }),
    "3_1460323737035677698": () => `7_${video()}`
  }
  const parametersOf = (name: Name, app = appId): object =>
    JSON.parse(
      JSON.stringify(examples[name]),
      (key, value: unknown) =>
        key === "media"
          ? MediaBytes.png()
          : typeof value !== "string"
          ? value
          : key === "text"
          // The service does not take the same text twice.
          ? `${value} ${++texts}`
          : cast[value]?.(name, app) ?? value
    )
  return { other, post, root, reply, list, space, parametersOf }
}
