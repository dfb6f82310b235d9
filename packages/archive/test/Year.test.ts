/** A year of daily runs that are killed, refused and out of money, and in the end the copy is what the service has. */
import { assert, describe, it } from "@effect/vitest"
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import * as RateLimit from "@postwire/core/rate-limit/RateLimit"
import type * as Bill from "@postwire/core/spend/Bill"
import * as Spend from "@postwire/core/spend/Spend"
import * as SpendStore from "@postwire/core/spend/SpendStore"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Clock, Deferred, Effect, Fiber, Layer, Redacted, References } from "effect"
import { HttpClient } from "effect/http"
import { join } from "node:path"
import { make as random } from "../../sandbox/src/text/random.ts"
import type { Source } from "../src/sources/SyncFile.ts"
import * as Sync from "../src/sync/Sync.ts"
import { copy, folder, rows } from "./support/Scene.ts"
import * as VirtualClock from "./support/VirtualClock.ts"
import * as Year from "./support/Year.ts"

const isLong = process.env["POSTWIRE_LONG"] === "1"
const [days, accounts] = isLong ? [365, 2_000] : [25, 200]
const seed = Number(process.env["POSTWIRE_SEED"] ?? 1)
const perDay = 1

const sourcesOf = ({ list, open }: Year.World, full: string): ReadonlyArray<Source> => [
  { kind: "posts" },
  { kind: "mentions" },
  { kind: "timeline" },
  { kind: "bookmarks", full },
  { kind: "likes", full },
  { kind: "followers", full },
  { kind: "following", full },
  { kind: "list_posts", of: list },
  { kind: "members", of: list, full },
  { kind: "search", query: "pelican" },
  { kind: "posts", of: ["@account0", open[1]!], name: "others" }
]

const start = Date.UTC(2027, 0, 1)

/** Lives through the year, and checks its end. */
const year = Effect.fnUntraced(function*(check: (ended: Ended) => void) {
  const draw = random(seed, "year")
  const clock = VirtualClock.make(start)
  const path = join(yield* folder, "own.sqlite")
  const store = SpendStore.makeMemory()
  const program = Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    const world = Year.make(sandbox.store, sandbox.ada.id, clock, accounts, draw)
    let onAnswer: Effect.Effect<void> = Effect.void
    /** The charges of a run, without what is in doubt. The client looks up the id of the account by itself: no call reports that. */
    const charged = { calls: 0, account: 0 }
    const http = Layer.effect(
      HttpClient.HttpClient,
      Effect.map(HttpClient.HttpClient, HttpClient.tap(() => onAnswer))
    )
    const client = (limit?: number) =>
      Client.layer({ baseUrl: sandbox.baseUrl }).pipe(
        Layer.provide([
          Credentials.layer({
            ...sandbox.ada.settings(),
            bearerToken: Redacted.value(sandbox.seeded.userBearerToken),
            appBearerToken: Redacted.value(sandbox.seeded.appBearerToken)
          }),
          http,
          RateLimit.layerWait(),
          Spend.layer({
            appOwner: sandbox.ada.id,
            onSpend: ({ dollars, inDoubt, operation }) => {
              charged[operation === "getMe" ? "account" : "calls"] += inDoubt ? 0 : Math.round(dollars * 1e6)
            },
            spendLimit: { perDay: limit }
          }).pipe(Layer.provide(Layer.succeed(SpendStore.SpendStore, store)))
        ])
      )
    const sync = (full: string, options: Partial<Sync.Options> = {}, limit?: number) =>
      Sync.run({
        userAuth: true,
        sources: sourcesOf(world, full),
        deletions: { every: full, by: "compliance" },
        ...options
      }).pipe(Effect.provide(client(limit)), Effect.provide(copy(path)))

    /** A run that is killed at some answer, or once some page is written. Returns whether it ended by itself. */
    const attempt = Effect.fnUntraced(function*(at: { readonly answer?: number; readonly page?: number }) {
      const kill = yield* Deferred.make<void>()
      const countdown = (left = Infinity) =>
        Effect.suspend(() => left-- > 0 ? Effect.void : Effect.andThen(Deferred.succeed(kill, undefined), Effect.never))
      Object.assign(charged, { calls: 0, account: 0 })
      onAnswer = countdown(at.answer)
      const onPage = countdown(at.page)
      const running = yield* Effect.forkChild(sync("7 days", { onPage: () => onPage }, perDay))
      const ended = yield* Effect.raceFirst(
        Effect.exit(Fiber.join(running)),
        Effect.as(Deferred.await(kill), "killed" as const)
      )
      yield* Fiber.interrupt(running)
      onAnswer = Effect.void
      if (ended === "killed") return false
      const [run] = rows(path, "SELECT micros FROM runs ORDER BY id DESC LIMIT 1")
      assert.oneOf(Number(run?.["micros"]), [charged.calls, charged.calls + charged.account])
      return ended._tag === "Success"
    })

    for (let day = 0; day < days; day++) {
      world.day()
      sandbox.faults.clear()
      for (const fault of faults) sandbox.faults.add(fault)
      for (let n = 0; n < 4; n++) {
        const at = draw.chance(0.25) ? { page: draw.below(12) } : draw.chance(0.25) ? { answer: draw.below(30) } : {}
        if (yield* attempt(at)) break
      }
      clock.advance(Math.max(0, start + (day + 1) * 86_400_000 - clock.now()))
    }
    sandbox.faults.clear()
    yield* sync("0 days")
    const last = yield* sync("0 days")
    assert.deepStrictEqual([last.status, last.problems], ["done", []])
    const entries = yield* store.read(sandbox.baseUrl, "2000-01-01", "2100-01-01")
    check({ bill: sandbox.bill.statement(), entries, path, store: sandbox.store, world })
  })
  yield* program.pipe(
    Effect.provide(Sandbox.layer({ posts: 0, start })),
    Effect.provideService(Clock.Clock, clock.clock),
    // A year of waits for rate limits, one line each.
    Effect.provideService(References.MinimumLogLevel, "Warn")
  )
})

type Store = Sandbox.Sandbox["Service"]["store"]

type Post = NonNullable<ReturnType<Store["posts"]["byId"]>>

type User = NonNullable<ReturnType<Store["users"]["byId"]>>

type Request = Pick<Parameters<Store["follows"]["followers"]>[0], "limit" | "cursor">

/** The end of the year. */
interface Ended {
  readonly bill: ReturnType<Sandbox.Sandbox["Service"]["bill"]["statement"]>
  readonly entries: ReadonlyArray<Bill.Entry>
  readonly path: string
  readonly store: Store
  readonly world: Year.World
}

const faults = [
  { probability: 0.01, reset: "after" },
  { probability: 0.01, reset: "before" },
  { probability: 0.01, status: 503, headers: { "retry-after": "1" } },
  { probability: 0.005, status: 503, after: true },
  { probability: 0.005, status: 429 }
] as const

/** The items of all pages of a listing. */
const all = <A>(
  listing: (request: Request) => { readonly items: ReadonlyArray<A>; readonly next: Request["cursor"] }
): ReadonlyArray<A> => {
  const found: Array<A> = []
  let cursor: Request["cursor"]
  do {
    const { items, next } = listing({ limit: 1_000, cursor })
    found.push(...items)
    cursor = next
  } while (cursor !== undefined)
  return found
}

const idsOf = (items: ReadonlyArray<{ readonly id: string }>) => items.map(({ id }) => id).sort()

const referencedBy = ({ referenced_posts = [] }: Post, { posts }: Store): ReadonlyArray<Post> =>
  referenced_posts.flatMap(({ id }) => posts.byId(id) ?? [])

/** The posts of the copy are those of the service, or gone for a reason. */
const assertPosts = ({ path, store, world }: Ended) => {
  const copied = new Map(
    rows(path, "SELECT id, text, author_id, gone FROM posts").map((row) => [String(row["id"]), row])
  )
  for (const [id, { author_id, gone, text }] of copied) {
    const post = store.posts.byId(id)
    const author = store.users.byId(String(author_id))
    if (gone === null) {
      assert.strictEqual(text, post?.text, id)
      assert.isFalse(author?.protected === true || author?.suspended === true, id)
    } else {
      assert.isNull(text)
      // What was hidden may have been deleted since.
      const isReal = post === undefined ||
        (gone !== "deleted" && [post, ...referencedBy(post, store)].some((one) => world.hidden.has(one.author_id)))
      assert.isTrue(isReal, `${id} ${String(gone)}`)
    }
  }
  return copied
}

/** Everything that was always to be seen is in the copy. */
const assertComplete = ({ store, world }: Ended, copied: ReadonlyMap<string, unknown>) => {
  const viewer = { userId: world.ada }
  const isOpen = (post: Post) =>
    [post, ...referencedBy(post, store)].every(({ author_id }) => !world.hidden.has(author_id))
  const { byAuthor, home, mentions } = store.timelines
  const by = (authorId: string) => all((request) => byAuthor({ authorId, viewer, ...request }))
  const expected = {
    own: by(world.ada),
    others: [by(world.open[0]!), by(world.open[1]!)].flat(),
    mentions: all((request) => mentions({ userId: world.ada, viewer, ...request })),
    timeline: all((request) => home({ userId: world.ada, ...request })).filter(({ author_id }) =>
      world.open.includes(author_id)
    ),
    search: world.posts.flatMap((id) => store.posts.byId(id) ?? []).filter(({ edit_history_post_ids, id, text }) =>
      edit_history_post_ids.at(-1) === id && /\bpelican\b/.test(text)
    )
  }
  for (const [name, posts] of Object.entries(expected)) {
    const missing = posts.filter((post) => isOpen(post) && !copied.has(post.id))
    assert.deepStrictEqual(missing, [], name)
  }
}

/** The lists of the copy are those of the service, and so are the names of their users. */
const assertLists = ({ path, store, world }: Ended) => {
  const viewer = { userId: world.ada }
  const kept = (kind: string, end: "from_id" | "to_id", id: string) =>
    rows(
      path,
      `SELECT ${end === "from_id" ? "to_id" : "from_id"} AS id FROM edges WHERE kind = '${kind}' AND ${end} = '${id}'
        AND gone_at IS NULL ORDER BY 1`
    ).map(({ id }) => String(id))
  // A job reports posts of protected accounts, even of those that ada follows; a repost is gone with its post.
  const shown = (post: Post) =>
    [post, ...post.referenced_posts?.[0]?.type === "reposted" ? referencedBy(post, store) : []].every(({ author_id }) =>
      store.users.byId(author_id)?.protected === false
    )
  const reacted = (reactions: Ended["store"]["likes"]) =>
    idsOf(all((request) => reactions.posts({ userId: world.ada, viewer, ...request })).filter(shown))
  assert.deepStrictEqual(kept("likes", "from_id", world.ada), reacted(store.likes))
  assert.deepStrictEqual(kept("bookmarks", "from_id", world.ada), reacted(store.bookmarks))
  const people = {
    followers: all((request) => store.follows.followers({ userId: world.ada, ...request })),
    following: all((request) => store.follows.following({ userId: world.ada, ...request })),
    members: all((request) => store.lists.members({ listId: world.list, ...request }))
  }
  const seen = (users: ReadonlyArray<User>) => idsOf(users.filter(({ suspended }) => !suspended))
  assert.deepStrictEqual(kept("follows", "to_id", world.ada), seen(people.followers))
  assert.deepStrictEqual(kept("follows", "from_id", world.ada), seen(people.following))
  assert.deepStrictEqual(kept("members", "from_id", world.list), seen(people.members))
  const names = new Map(rows(path, "SELECT id, name FROM users WHERE gone IS NULL").map(({ id, name }) => [id, name]))
  for (const { id, name, suspended } of Object.values(people).flat()) {
    if (!suspended) assert.strictEqual(names.get(id), name)
  }
}

/** The account of the client is the bill of the service, within what is in doubt, and no day has passed its budget. */
const assertMoney = ({ bill, entries, path }: Ended) => {
  const sum = (of: "spent" | "inDoubt" | "reserved") => entries.reduce((all, entry) => all + entry[of], 0)
  const billed = Math.round(bill.dollars * 1e6)
  const [run] = rows(path, "SELECT sum(micros) AS micros FROM runs")
  const recorded = Number(run?.["micros"])
  assert.strictEqual(sum("reserved"), 0)
  assert.isAtMost(recorded, sum("spent"))
  assert.isAtMost(sum("spent"), billed)
  assert.isAtMost(billed, sum("spent") + sum("inDoubt"))
  const perDays = Map.groupBy(bill.apps.flatMap(({ lines }) => lines), ({ day }) => day)
  const last = [...perDays.keys()].sort().at(-1)
  for (const [day, lines] of perDays) {
    const spent = lines.reduce((all, { dollars }) => all + dollars, 0)
    if (day !== last) assert.isAtMost(spent, perDay + 1e-9, day)
  }
  return { recorded, spent: sum("spent"), inDoubt: sum("inDoubt"), billed }
}

/** A row for each month. */
const tableOf = ({ bill, path }: Ended) => {
  const lines = bill.apps.flatMap(({ lines }) => lines)
  return rows(
    path,
    `SELECT substr(started_at, 1, 7) AS month, count(*) AS runs, sum(status = 'interrupted') AS kills,
      sum(status = 'failed') AS failed, sum(status = 'budget') AS budget, sum(requests) AS requests, sum(added) AS added,
      (SELECT count(*) FROM posts WHERE substr(gone_at, 1, 7) = substr(started_at, 1, 7)) AS gone,
      round(sum(micros) / 1e6, 3) AS dollars FROM runs GROUP BY 1`
  ).map((row) => ({
    ...row,
    bill: Number(
      lines.filter(({ day }) => day.startsWith(String(row["month"]))).reduce((all, { dollars }) => all + dollars, 0)
        .toFixed(3)
    )
  }))
}

describe("a year", () => {
  it.live("ends with a copy of what the service has", () =>
    year((ended) => {
      const money = assertMoney(ended)
      if (process.env["POSTWIRE_TABLE"] === "1") {
        console.table(tableOf(ended))
        console.table([money])
      }
      assertComplete(ended, assertPosts(ended))
      assertLists(ended)
    }).pipe(Effect.scoped), 600_000)
})
