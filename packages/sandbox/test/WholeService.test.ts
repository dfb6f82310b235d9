// What the sandbox assumes of operations whose rules are documented least: docs/coverage.md.
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { day, make, minute, now } from "./support/Requests.ts"

const begin = make({ posts: 0 })

const plan = { source_id: "source", scheduled_start_ms: String(now + day), scheduled_end_ms: String(now + 2 * day) }

describe("Articles", () => {
  it.effect("are drafts, which their author publishes once, as posts", () =>
    Effect.gen(function*() {
      const { newcomer, request, store } = yield* begin
      const content_state = {
        blocks: [{ type: "unstyled", text: "See", entity_ranges: [{ key: 0, offset: 0, length: 3 }] }],
        entities: [{
          key: "0",
          value: { type: "link", mutability: "mutable", data: { url: "https://example.com" } }
        }]
      }
      const draft = yield* request("POST", "/2/articles/draft", { body: { title: "On lamps", content_state } })
      assert.strictEqual(draft.status, 201)
      const { id, title } = draft.body.data
      assert.strictEqual(title, "On lamps")
      const other = newcomer({ userId: store.users.insert({ username: "eve", name: "Eve", createdAt: now - day }) })
      assert.strictEqual((yield* request("POST", `/2/articles/${id}/publish`, { as: other })).status, 404)
      const published = yield* request("POST", `/2/articles/${id}/publish`)
      assert.strictEqual(published.status, 200)
      const post = yield* request("GET", `/2/posts/${published.body.data.post_id}?post.fields=article`)
      assert.deepInclude(post.body.data, { text: "On lamps", article: { title: "On lamps" } })
      assert.strictEqual((yield* request("POST", `/2/articles/${id}/publish`)).status, 400)
    }))

  it.effect("with a range or an entity that cannot be are refused", () =>
    Effect.gen(function*() {
      const { request } = yield* begin
      const blocks = [
        [{ type: "unstyled", text: "a", inline_style_ranges: [{ style: "bold", offset: 0, length: 2 }] }, /longer/],
        [{ type: "unstyled", text: "a", entity_ranges: [{ key: 1, offset: 0, length: 1 }] }, /not in entities/],
        [{ type: "atomic", text: " " }, /atomic/],
        [{ type: "imagined", text: "a" }, /content_state/]
      ] as const
      for (const [block, reason] of blocks) {
        const body = { title: "T", content_state: { blocks: [block], entities: [] } }
        const { body: problem, status } = yield* request("POST", "/2/articles/draft", { body })
        assert.strictEqual(status, 400)
        assert.match(JSON.stringify(problem), reason)
      }
    }))
})

describe("Community Notes", () => {
  it.effect("are written by enrolled accounts, one about a post", () =>
    Effect.gen(function*() {
      const { request, seeded: { ada }, store } = yield* begin
      const author = store.users.insert({ username: "eve", name: "Eve", createdAt: now - day })
      const post_id = store.posts.insert({ authorId: author, text: "It is flat", createdAt: now - minute })
      const info = {
        classification: "misinformed_or_potentially_misleading",
        misleading_tags: ["factual_error"],
        text: "It is round: https://example.com",
        trustworthy_sources: true
      }
      const write = (more: object = {}) =>
        request("POST", "/2/notes", { body: { post_id, test_mode: true, info: { ...info, ...more } } })
      assert.strictEqual((yield* write()).status, 403)
      store.users.update(ada.id, "profile.update.bio", "AI Note Writer")
      const eligible = "/2/notes/search/posts_eligible_for_notes?test_mode=true"
      assert.deepEqual((yield* request("GET", eligible)).body.data.map(({ id }: { id: string }) => id), [post_id])
      assert.strictEqual((yield* write({ misleading_tags: [] })).status, 400)
      assert.strictEqual((yield* write({ text: "No link" })).status, 400)
      const { body, status } = yield* write()
      assert.strictEqual(status, 201)
      assert.strictEqual((yield* write()).status, 400)
      assert.strictEqual((yield* request("GET", eligible)).body.meta.result_count, 0)
      const written = "/2/notes/search/notes_written?test_mode=true&note.fields=info,status"
      const [note] = (yield* request("GET", written)).body.data
      assert.strictEqual(note.info.post_id, post_id)
      assert.strictEqual(note.info.text, info.text)
      const path = "/2/notes/search/notes_written?test_mode=false"
      assert.strictEqual((yield* request("GET", path)).status, 400)
      assert.deepEqual((yield* request("DELETE", `/2/notes/${body.data.id}`)).body, { data: { deleted: true } })
      assert.strictEqual((yield* request("DELETE", `/2/notes/${body.data.id}`)).status, 404)
    }))
})

describe("broadcasts", () => {
  it.effect("run when their plan is published, and have a chat", () =>
    Effect.gen(function*() {
      const { newcomer, request, store } = yield* begin
      const body = { ...plan, title: "Hours", description: "Weekly", manual_publish: true, chat_option: "2" }
      const { data } = (yield* request("POST", "/2/broadcasts/scheduled", { body })).body
      assert.deepInclude(data, { ...body, state: "NOT_STARTED" })
      const { broadcast_id: id, scheduled_broadcast_id } = data
      assert.match(id, /^[a-zA-Z0-9]{13}$/)
      const eve = store.users.insert({ username: "eve", name: "Eve", createdAt: now - day })
      const other = newcomer({ userId: eve })
      const chat = (text: string) => request("POST", `/2/broadcasts/${id}/chat`, { as: other, body: { text } })
      assert.strictEqual((yield* chat("Early")).status, 403)

      const replaced = yield* request("PUT", `/2/broadcasts/scheduled/${id}`, {
        body: { ...plan, scheduled_broadcast_id, title: "Later", manual_publish: true }
      })
      assert.strictEqual(replaced.body.data.title, "Later")
      assert.notProperty(replaced.body.data, "description")
      assert.strictEqual((yield* request("GET", `/2/broadcasts/scheduled/${id}`, { as: other })).status, 403)

      assert.strictEqual(
        (yield* request("POST", `/2/broadcasts/scheduled/${id}/live`)).body.data.state,
        "RUNNING"
      )
      assert.strictEqual((yield* request("DELETE", `/2/broadcasts/scheduled/${id}`)).status, 400)
      const shown = (yield* request("GET", `/2/broadcasts/${id}?broadcast.fields=state,start_ms`)).body.data
      assert.strictEqual(shown.start_ms, String(now))

      assert.strictEqual((yield* chat("One")).body.data.success, true)
      yield* chat("Two")
      const listed = () =>
        Effect.map(
          request("GET", `/2/broadcasts/${id}/chat?broadcast_chat_message.fields=text&expansions=author_id`),
          ({ body }) => body
        )
      const messages = yield* listed()
      assert.deepEqual(messages.data.map(({ text }: { text: string }) => text), ["Two", "One"])
      assert.strictEqual(messages.includes.users[0].username, "eve")
      yield* request("DELETE", `/2/broadcasts/${id}/chat/${messages.data[0].id}`)
      assert.strictEqual((yield* listed()).meta.result_count, 1)

      const mute = (more: object) =>
        request("POST", `/2/broadcasts/${id}/chat/mutes`, { body: { user_id: eve, ...more } })
      assert.strictEqual((yield* mute({ end_at_ms: String(now + minute) })).body.data.muted, true)
      assert.strictEqual((yield* chat("Muted")).status, 403)
      yield* TestClock.adjust("61 seconds")
      assert.strictEqual((yield* chat("Heard")).status, 200)
      yield* mute({})
      assert.strictEqual((yield* request("DELETE", `/2/broadcasts/${id}/chat/mutes/${eve}`)).body.data.muted, false)
      assert.strictEqual((yield* chat("Heard again")).status, 200)

      yield* TestClock.adjust("3 days")
      assert.strictEqual((yield* chat("Late")).status, 403)
      const over = yield* request("GET", `/2/broadcasts?ids=${id}&broadcast.fields=state`)
      assert.strictEqual(over.body.data[0].state, "ENDED")
    }))

  it.effect("of a series are changed and deleted together where that is asked for", () =>
    Effect.gen(function*() {
      const { request } = yield* begin
      const body = { ...plan, recurrence: { frequency: "Weekly", repeats: "3" } }
      const { broadcast_id: id } = (yield* request("POST", "/2/broadcasts/scheduled", { body })).body.data
      const starts = Effect.map(request("GET", "/2/broadcasts/scheduled"), ({ body }) =>
        (body.data ?? []).map((each: { readonly scheduled_start_ms: string }) =>
          Number(each.scheduled_start_ms) - now
        ))
      assert.deepEqual(yield* starts, [15 * day, 8 * day, day])
      yield* request("DELETE", `/2/broadcasts/scheduled/${id}`)
      assert.lengthOf(yield* starts, 2)
      const [, next] = (yield* request("GET", "/2/broadcasts/scheduled")).body.data
      yield* request("DELETE", `/2/broadcasts/scheduled/${next.broadcast_id}?roll_forward=true`)
      assert.lengthOf(yield* starts, 0)
      for (const wrong of [{ scheduled_start_ms: "1" }, { scheduled_end_ms: String(now) }]) {
        assert.strictEqual(
          (yield* request("POST", "/2/broadcasts/scheduled", { body: { ...plan, ...wrong } })).status,
          400
        )
      }
    }))
})

describe("news", () => {
  it.effect("are stories of the posts of a trend", () =>
    Effect.gen(function*() {
      const { request, seeded: { ada }, store } = yield* begin
      const [older, newer] = [3, 1].map((days) =>
        store.posts.insert({ authorId: ada.id, text: `Lamps #lighthouse ${days}`, createdAt: now - days * day })
      )
      const search = "/2/news/search?query=lighthouse&news.fields=name,disclaimer,cluster_posts_results"
      const [story] = (yield* request("GET", search)).body.data
      assert.strictEqual(story.id, older)
      assert.match(story.disclaimer, /in place of a model/)
      assert.deepEqual(story.cluster_posts_results, [{ post_id: newer }, { post_id: older }])
      assert.strictEqual((yield* request("GET", `${search}&max_age_hours=2`)).body.meta.result_count, 0)
      assert.strictEqual((yield* request("GET", `/2/news/${story.id}?news.fields=name`)).body.data.name, story.name)
      assert.match(JSON.stringify((yield* request("GET", "/2/news/1")).body.errors), /resource-not-found/)
    }))
})

describe("analytics", () => {
  it.effect("spread the counts of one's own posts, so that parts add up to the whole", () =>
    Effect.gen(function*() {
      const { request, seeded: { ada }, store } = yield* begin
      const eve = store.users.insert({ username: "eve", name: "Eve", createdAt: now - day })
      const own = store.posts.insert({ authorId: ada.id, text: "a", createdAt: now - 3 * day, impressions: 1_000 })
      const hers = store.posts.insert({ authorId: eve, text: "b", createdAt: now - day, impressions: 5 })
      const from = new Date(now - 3 * day).toISOString()
      const path = (more: string) =>
        `/2/posts/analytics?ids=${own},${hers}&start_time=${from}&end_time=${new Date(now).toISOString()}${more}` +
        "&analytics.fields=impressions,timestamped_metrics"
      const { data, errors } = (yield* request("GET", path(""))).body
      assert.deepEqual(data, [{ id: own, impressions: 1_000 }])
      assert.lengthOf(errors, 1)
      const [{ timestamped_metrics: days }] = (yield* request("GET", path("&granularity=daily"))).body.data
      const figures = days.map(({ metrics }: { readonly metrics: { readonly impressions: number } }) =>
        metrics.impressions
      )
      assert.deepEqual(figures, [500, 250, 250])
      assert.strictEqual((yield* request("GET", path("").replace(from, new Date(now).toISOString()))).status, 400)
    }))
})

describe("the document", () => {
  it.effect("needs no credential", () =>
    Effect.gen(function*() {
      const { request } = yield* begin
      const { body, status } = yield* request("GET", "/2/openapi.json", { as: { header: undefined } })
      assert.strictEqual(status, 200)
      assert.property(body.paths, "/2/openapi.json")
    }))
})
