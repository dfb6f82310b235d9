/** A sandbox in which all that recorded requests name exists, in as many states as recorded answers show. */
import * as Redacted from "effect/Redacted"
import { createHmac } from "node:crypto"
import { createServer } from "node:http"
import { type RunningSandbox, start } from "../../packages/sandbox/src/Sandbox.ts"

const now = Date.UTC(2026, 10, 20, 12)

/** The text that a search finds in everything. */
export const needle = "needle"

/** The kinds of things that requests name. Of several candidates, the one with the answer nearest to the recorded one is used. */
export type Kind =
  | "address"
  | "article"
  | "community"
  | "conversation"
  | "folder"
  | "job"
  | "list"
  | "media"
  | "message"
  | "owned post"
  | "story"
  | "post"
  | "rule"
  | "space"
  | "subscription"
  | "user"
  | "username"
  | "webhook"
  | "woeid"

/** The sandbox with the ids of what is in it. */
export interface Stage {
  readonly sandbox: RunningSandbox
  readonly things: Readonly<Record<Kind, ReadonlyArray<string>>>
  /** The names of hidden or deleted things. */
  readonly unseen: Readonly<Record<string, Readonly<Partial<Record<Kind, string>>>>>
  readonly stop: () => Promise<void>
}

/** Starts the sandbox. */
export const make = async (): Promise<Stage> => {
  const sandbox = await start({ posts: 100, start: now, wire: "x-2026-02" })
  const receiver = await receive(Redacted.value(sandbox.seeded.consumerSecret))
  const linus = sandbox.user({ username: "linus", protected: true })
  const gone = sandbox.user({ username: "gone" }).suspended()
  const things = { ...thingsOfUsers(sandbox), ...thingsOfApp(sandbox, receiver.url), woeid: ["1"] }
  return {
    sandbox,
    things: { ...things, story: await storiesOf(sandbox) },
    unseen: {
      missing: { post: "1", user: "999", username: "nobody", list: "1", space: "1DXxyRYNejbKM" },
      protected: { post: linus.post(needle).id, user: linus.id, username: linus.username },
      suspended: { post: "1", user: gone.id, username: gone.username }
    },
    stop: async () => {
      receiver.close()
      await sandbox.stop()
    }
  }
}

/** The news, which are made of what posts are about. */
const storiesOf = async ({ baseUrl, settings }: RunningSandbox): Promise<ReadonlyArray<string>> => {
  const headers = { authorization: `Bearer ${settings.bearerToken}` }
  const response = await fetch(`${baseUrl}/2/news/search?query=${needle}`, { headers })
  const { data = [] }: { readonly data?: ReadonlyArray<{ readonly id: string }> } = JSON.parse(await response.text())
  return data.map(({ id }) => id)
}

const thingsOfUsers = (sandbox: RunningSandbox) => {
  const { ada, store } = sandbox
  const grace = sandbox.user({
    username: "grace",
    name: `Grace ${needle}`,
    verified: "blue",
    description: `On #compilers and $TWTR, with @ada: https://example.com/${needle}`,
    location: "New York",
    url: "https://example.com/grace"
  })
  const posts = postsOf(sandbox, grace).map((id) => ({ id }))
  const [rich = ada.post()] = posts
  const own = ada.post({ text: "Own #tag https://example.com/own", media: ["photo"] })
  const reply = grace.reply(own, "A reply")
  grace.pins(rich).follows(ada).likes(own, ...posts)
  grace.repost(own)
  grace.quote(rich, "A quote @ada")
  grace.quote(own, "Another quote")
  ada.repost(rich)
  ada.pins(own).follows(grace).likes(...posts).bookmarks(...posts)
  const [blocked, muted] = [sandbox.user({ username: "blocked" }), sandbox.user({ username: "muted" })]
  for (const other of [blocked, muted]) other.pins(other.post("Mine"))
  ada.blocks(blocked).mutes(muted)
  // The words by which the sandbox knows a writer of Community Notes.
  sandbox.trigger({ event_type: "profile.update.bio", set: { after: "AI Note Writer" } })
  const list = ada.list({ name: "News", description: needle, members: [grace], followers: [grace] })
  store.lists.setPinned(list.id, ada.id, true)
  const { conversationId, id: message } = grace.message(ada, { text: needle, media: "photo" })
  return {
    article: [store.documents.insert("article", { ownerId: ada.id, createdAt: now, body: { title: needle } })],
    community: [store.communities.insert({ name: `Compilers ${needle}`, createdAt: now })],
    conversation: [conversationId],
    folder: [ada.bookmarkFolder("Later", own).id],
    list: [list.id],
    media: [ada.media().id],
    message: [ada.message(grace, needle).id, message],
    "owned post": [own.id, reply.id],
    post: [...posts, own, reply].map(({ id }) => id),
    space: (["live", "scheduled", "ended"] as const).map((state) =>
      grace.space({ state, title: `AI ${needle}`, speakers: [ada], buyers: [ada], posts: [rich] }).id
    ),
    user: [grace.id, muted.id, ada.id],
    username: [grace.username, muted.username, ada.username]
  }
}

const thingsOfApp = ({ ada, seeded, store }: RunningSandbox, address: string) => {
  const appId = store.credentials.appByConsumerKey(seeded.consumerKey)?.id ?? ""
  const webhooks = ["a", "b"].map((path) => store.webhooks.insert({ appId, url: `${address}/${path}`, createdAt: now }))
  store.webhooks.accounts.set(webhooks[0] ?? "", ada.id, true)
  return {
    address: [`${address}/new`],
    job: [store.complianceJobs.insert({ appId, type: "users", name: "archive", resumable: false, createdAt: now })],
    rule: ["cat", "dog"].map((value) => store.streamRules.insert({ appId, value, tag: value, createdAt: now })),
    subscription: [store.activity.insert({ appId, eventType: "like.create", filter: { user_id: ada.id }, now })],
    webhook: webhooks
  }
}

/** Posts of a user that together have all members that posts can have. */
const postsOf = ({ ada, clock, store }: RunningSandbox, author: RunningSandbox["ada"]): ReadonlyArray<string> => {
  const text = `@ada on #compilers and $TWTR, ${needle}: https://example.com/${needle}`
  const root = ada.post("Root")
  store.attachments.insertPlace({
    id: "01a9a39529b27f36",
    full_name: "Manhattan, NY",
    name: "Manhattan",
    country: "United States",
    country_code: "US",
    place_type: "city",
    geo: { type: "Feature", bbox: [-74, 40, -73, 41], properties: {} }
  })
  const described = store.attachments.insertMedia({
    ownerId: author.id,
    type: "photo",
    createdAt: clock.now(),
    facts: { width: 1, height: 1, url: "https://example.com/photo.jpg", alt_text: "A photo" }
  })
  return [
    author.reply(root, { text, media: ["photo", "video", "animated_gif"], quotes: root, lang: "en" }),
    author.post({ text, poll: { choices: ["A", "B"], votes: [1, 2] }, lang: "en" }),
    {
      id: store.posts.insert({
        authorId: author.id,
        text,
        createdAt: clock.now() - 60_000,
        mediaKeys: store.attachments.mediaKeys([described]),
        placeId: "01a9a39529b27f36",
        coordinates: { type: "Point", coordinates: [-73.9, 40.7] }
      })
    },
    author.post({ text, media: ["photo"] }),
    author.post(`Plain, ${needle}`)
  ].map(({ id }) => id)
}

/** A program on this machine that proves to the service that it has the secret of the app. */
const receive = async (secret: string): Promise<{ readonly url: string; readonly close: () => void }> => {
  const server = createServer((request, response) => {
    const token = new URL(request.url ?? "", "http://localhost").searchParams.get("crc_token") ?? ""
    const proof = createHmac("sha256", secret).update(token).digest("base64")
    response.setHeader("content-type", "application/json").end(JSON.stringify({ response_token: `sha256=${proof}` }))
  })
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`, close }
}
