/** `postwire lists` and `postwire conversation` against a sandbox. */
import { assert, describe, it, layer } from "@effect/vitest"
import * as Conversation from "@postwire/core/workflows/Conversation"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect } from "effect"
import { displayWidth } from "effect/cli/CliOutput"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as ConversationTree from "../src/conversation/ConversationTree.ts"
import * as Commands from "./Commands.ts"

/** A folder with files, commands whose journal is in it, and a list of ada's. */
const desk = Effect.fnUntraced(function*(files: Readonly<Record<string, string>> = {}) {
  const sandbox = yield* Sandbox.Sandbox
  sandbox.reset()
  const folder = yield* Commands.folder
  const variables = yield* Commands.variables({ POSTWIRE_JOURNAL: join(folder, "journal") })
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  const users = Array.from({ length: 40 }, (_, i) => sandbox.user({ username: `u${i}` }))
  const list = sandbox.ada.list({ name: "Friends", members: users.slice(0, 4) }).id
  return {
    sandbox,
    users,
    list,
    members: () => users.flatMap(({ id, username }) => sandbox.store.lists.isMember(list, id) ? [username] : []),
    text: (name: string) => readFileSync(join(folder, name), "utf8"),
    run: (...args: ReadonlyArray<string>) =>
      Commands.runWith(variables, ...args.map((arg) => arg.startsWith("./") ? join(folder, arg) : arg))
  }
})

const names = (...numbers: ReadonlyArray<number>) => numbers.map((i) => `u${i}`)

layer(Sandbox.layerServer({ posts: 0 }), { excludeTestServices: true })("lists", (it) => {
  it.effect("sync tells the plan and its price, and then does it, and says what became of each", () =>
    Effect.gen(function*() {
      const { list, members, run, sandbox, users } = yield* desk({
        "users.csv": "name,username\nA,u0\nB,@U1\nC,u4\nD,u5\nE,nobody\n"
      })
      users[5]?.blocks(sandbox.ada)
      const plan = yield* run("lists", "sync", list, "./users.csv", "--dry-run")
      assert.deepStrictEqual(plan.output.split("\n"), [
        "Friends: 4 members, 2 to add, 2 to remove, 2 there already, 1 unknown",
        "  - @u3",
        "  - @u2",
        "  + @u4",
        "  + @u5",
        "  ? @nobody: unknown (Could not find user with usernames: [nobody].)",
        "4 changes, 4 requests, up to $0.02"
      ])
      // Four members, and five names that may not be theirs.
      assert.include(plan.errors, "9 users to read, 2 requests, up to $0.09.")
      assert.deepStrictEqual(members(), names(0, 1, 2, 3))
      const done = yield* run("lists", "sync", list, "./users.csv")
      assert.strictEqual(done.code, 3)
      assert.deepStrictEqual(done.output.split("\n"), [
        "1 added, 2 removed, 2 there already, 2 refused",
        "  @u5: blocked (This user blocks you.)",
        "  @nobody: unknown (Could not find user with usernames: [nobody].)"
      ])
      // The plan of a moment ago was good.
      assert.notInclude(done.errors, "to read")
      assert.deepStrictEqual(members(), names(0, 1, 4))
      const json = JSON.parse((yield* run("lists", "sync", list, "./users.csv", "--json")).output)
      assert.deepInclude(json, { added: 0, removed: 0, present: 3, refused: 2, resumed: false })
    }))

  it.effect("sync of a file that is empty, or another's, removes nobody without a word", () =>
    Effect.gen(function*() {
      const { list, members, run } = yield* desk({ "empty.csv": "username\n", "other.txt": "u0\nu9\n" })
      for (const file of ["./empty.csv", "./other.txt"]) {
        const refused = yield* run("lists", "sync", list, file)
        assert.strictEqual(refused.code, 1)
        assert.match(refused.errors, /[34] of 4 members would be removed/)
        assert.deepStrictEqual(members(), names(0, 1, 2, 3))
      }
      assert.strictEqual((yield* run("lists", "sync", list, "./other.txt", "--max-removals", "2")).code, 1)
      assert.strictEqual((yield* run("lists", "sync", list, "./other.txt", "--keep")).code, 0)
      assert.deepStrictEqual(members(), names(0, 1, 2, 3, 9))
      assert.strictEqual((yield* run("lists", "sync", list, "./other.txt", "--max-removals", "3")).code, 0)
      assert.deepStrictEqual(members(), names(0, 9))
      assert.strictEqual((yield* run("lists", "sync", list, "./empty.csv", "--yes")).code, 0)
      assert.deepStrictEqual(members(), [])
    }))

  it.effect("sync refuses before the first change what costs too much, and files that name nobody", () =>
    Effect.gen(function*() {
      const { list, members, run } = yield* desk({ "users.txt": "u0\nu1\nu2\nu3\nu4\n", "bad.txt": "u0\nno name\n" })
      const dear = yield* run("lists", "sync", list, "./users.txt", "--max-spend", "0.01")
      assert.include(dear.errors, "It would cost up to $0.09; --max-spend is $0.01")
      const bad = yield* run("lists", "sync", list, "./bad.txt")
      assert.include(bad.errors, "bad.txt, line 2: \"no name\" is not the id or the name of a user")
      const other = yield* run("lists", "sync", "77", "./users.txt")
      assert.include(other.errors, "The list 77 must be visible to the caller: Could not find list with id: [77]")
      assert.deepStrictEqual(members(), names(0, 1, 2, 3))
    }))

  it.effect("export makes a file that sync takes", () =>
    Effect.gen(function*() {
      const { list, members, run, text } = yield* desk()
      assert.strictEqual((yield* run("lists", "export", list, "--out", "./members.csv")).code, 0)
      assert.strictEqual(text("members.csv").split("\r\n")[0], "id,name,username,other")
      const { output } = yield* run("lists", "sync", list, "./members.csv")
      assert.strictEqual(output, "0 added, 0 removed, 4 there already")
      assert.deepStrictEqual(members(), names(0, 1, 2, 3))
    }))

  it.effect("all shows those that are owned and those that are followed, each once", () =>
    Effect.gen(function*() {
      const { list, run, sandbox, users } = yield* desk()
      sandbox.store.lists.setFollower(list, sandbox.ada.id, true)
      const followed = users[0]?.list({ name: "Theirs", followers: [sandbox.ada] }).id
      const { lists: rows }: { readonly lists: ReadonlyArray<{ readonly id: string; readonly is: string }> } = JSON
        .parse(
          (yield* run("lists", "all", "--json")).output
        )
      assert.strictEqual(rows.find(({ id }) => id === list)?.is, "owned")
      assert.strictEqual(rows.find(({ id }) => id === followed)?.is, "followed")
      assert.lengthOf(new Set(rows.map(({ id }) => id)), rows.length)
      const table = yield* run("lists", "all", "@ada")
      assert.match(table.output, /Friends +owned +4/)
      const { id } = users[0] ?? { id: "" }
      assert.match((yield* run("lists", "all", id)).output, /Theirs +owned/)
      assert.include((yield* run("lists", "all", "nobody")).errors, "There is no user nobody")
    }))

  it.effect("conversations are shown as a tree, and go to files", () =>
    Effect.gen(function*() {
      const { run, sandbox, text, users } = yield* desk()
      const at = (minutes: number) => new Date(sandbox.clock.now() - minutes * 60_000)
      const root = sandbox.ada.post({ text: "root", at: at(60) })
      const first = users[0]?.reply(root, { text: "first", at: at(50) })
      const gone = users[1]?.reply(root, { text: "gone", at: at(40) })
      if (first === undefined || gone === undefined) return assert.fail("nobody replies")
      const long = `${"deep ".repeat(70)}down`
      const deep = users[2]?.reply(first, { text: long, at: at(30) })
      users[3]?.reply(gone, { text: "left", at: at(20) })
      sandbox.store.posts.delete(gone.id)
      const { errors, output } = yield* run("conversation", `https://x.com/u2/status/${deep?.id}?s=20`)
      assert.deepStrictEqual(output.split("\n").map((line) => line.replace(/ \d{4}-.*| +$/, "")), [
        "@ada",
        "│ root",
        "├─ @u0",
        "│  │ first",
        "│  └─ @u2",
        ...Array.from({ length: 5 }, () => `│       ${"deep ".repeat(14).trim()}`),
        "│       down",
        "└─ deleted",
        `   │ Could not find post with ids: [${gone.id}].`,
        "   └─ @u3",
        "        left"
      ])
      assert.include(errors, "4 posts; 1 missing: 1 deleted.")
      const tree: Conversation.Conversation = JSON.parse((yield* run("conversation", root.id, "--json")).output)
      assert.deepStrictEqual(tree.nodes.map(({ depth }) => depth), [0, 1, 2, 1, 2])
      assert.strictEqual(tree.nodes[2]?.post?.text, long)
      const file = yield* run("conversation", root.id, "--out", "./talk.jsonl", "--no-authors")
      assert.strictEqual(file.code, 3)
      assert.sameMembers(
        text("talk.jsonl").trim().split("\n").map((line) => JSON.parse(line).text),
        ["root", "first", long, "left"]
      )
      assert.include((yield* run("conversation", "one")).errors, "The post one must be an id: 1 to 19 digits")
      assert.include((yield* run("conversation", root.id, "--zstd")).errors, "--zstd is for files")
    }))
})

describe("the tree of a conversation", () => {
  const post = (id: number, parent: number | undefined, text: string): Conversation.Part => ({
    _tag: "Post",
    author: { id: String(id), name: "", username: `user${id}` },
    post: {
      id: String(id),
      text,
      edit_history_post_ids: [],
      created_at: "2026-11-20T12:00:00.000Z",
      ...(parent === undefined ? {} : { referenced_posts: [{ type: "replied_to", id: String(parent) }] })
    }
  })

  it("is no wider than the terminal, however deep it is and whatever is in it", () => {
    const long = "漢字 and words of which there are many more than would fit on one line of any terminal there is "
    const parts = Array.from(
      { length: 60 },
      (_, i) => post(i + 1, i === 0 ? undefined : i % 7 === 0 ? 1 : i, `${long}\u001b[31m${i}`)
    )
    for (const columns of [20, 40, 80, 120]) {
      for (const line of ConversationTree.render(Conversation.treeOf("1", parts), columns)) {
        assert.isAtMost(displayWidth(line), columns)
        assert.notInclude(line, "\u001b")
      }
    }
  })

  it("shows the last levels of what is deeper than there is room for", () => {
    const parts = Array.from({ length: 40 }, (_, i) => post(i + 1, i === 0 ? undefined : i, `text ${i}`))
    const lines = ConversationTree.render(Conversation.treeOf("1", parts), 80)
    assert.strictEqual(lines.at(-2), `… ${"   ".repeat(11)}└─ @user40 2026-11-20 12:00`)
    assert.strictEqual(lines.at(-1)?.trimStart(), "text 39")
  })
})
