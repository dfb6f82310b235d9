/** The commands that are killed, and the invariant of each. */
import type * as Sandbox from "@postwire/sandbox/Sandbox"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { part, writeZip } from "../../../packages/archive/test/support/Zip.ts"
import { environmentOf } from "../../../packages/cli/src/commands/SandboxCommand.ts"
import { filesOf } from "../../../packages/export/test/support/Scene.ts"
import { accountsOf } from "./AccountScenes.ts"
import { chatsOf } from "./ChatScenes.ts"
import { publishingOf } from "./PublishingScenes.ts"
import type { Scene } from "./Scene.ts"
import { servicesOf } from "./ServiceScenes.ts"

export const scenesOf = (
  sandbox: Sandbox.RunningSandbox
): Readonly<Record<string, Scene>> => ({
  ...exportsOf(sandbox),
  ...writesOf(sandbox),
  ...copiesOf(sandbox),
  ...accountsOf(sandbox),
  ...publishingOf(sandbox),
  ...servicesOf(sandbox),
  ...chatsOf(sandbox),
  ...settings
})

/** The variables that every run has. */
export const variablesOf = ({ baseUrl, seeded }: Sandbox.RunningSandbox, root: string) => ({
  ...environmentOf(baseUrl, seeded),
  POSTWIRE_TOKEN_STORE: join(root, "accounts"),
  POSTWIRE_JOURNAL: join(root, "journal"),
  POSTWIRE_SPEND_STORE: join(root, "spend.db")
})

const outputOf = (root: string) => () => filesOf(join(root, "out"))

const exportsOf = (sandbox: Sandbox.RunningSandbox): Readonly<Record<string, Scene>> => {
  const invariant = "every row once, byte for byte as undisturbed"
  const search = (format: string): Scene => ({
    invariant,
    begin: (root) => {
      mkdirSync(join(root, "out"))
      const file = join("out", `posts.${format}`)
      return {
        args: ["export", "searchRecentPosts", "--query", "effect", "--max-results", "10", "--out", file, "--resume"],
        state: outputOf(root)
      }
    }
  })
  const ofFile = (
    name: string,
    text: string,
    argsOf: (file: string, out: string) => ReadonlyArray<string>
  ): Scene => ({
    invariant,
    begin: (root) => {
      mkdirSync(join(root, "out"))
      writeFileSync(join(root, name), text)
      return { args: [...argsOf(name, "out/posts.jsonl"), "--resume"], state: outputOf(root) }
    }
  })
  const ids = sandbox.store.overview.list("posts", { limit: 300 }).items.map((post) => String(Reflect.get(post, "id")))
  for (let i = 0; i < 120; i++) sandbox.ada.post(`own ${i}`)
  const until = new Date(sandbox.clock.now()).toISOString()
  const posts = ids.map((id) => JSON.stringify({ id })).join("\n")
  return {
    "export, JSON Lines": search("jsonl"),
    "export, CSV": search("csv"),
    "export, Parquet": search("parquet"),
    "export, SQLite": search("sqlite"),
    "export --each": ofFile(
      "users.txt",
      "ada\nada\n",
      (file, out) => ["export", "getUsersPosts", "--each", file, "--limit-each", "5", "--out", out]
    ),
    analytics: {
      invariant,
      begin: (root) => {
        mkdirSync(join(root, "out"))
        const span = ["--since", "2020-01-01", "--until", until]
        return {
          args: [
            "analytics",
            ...span,
            "--analytics-fields",
            "likes",
            "--posts",
            "--out",
            "out/own.csv",
            "--resume",
            "--yes"
          ],
          state: outputOf(root)
        }
      }
    },
    hydrate: ofFile("ids.txt", `${ids.join("\n")}\n`, (file, out) => ["hydrate", file, "--out", out]),
    comply: ofFile("posts.jsonl", `${posts}\n`, (file, out) => ["comply", file, "--out", out])
  }
}

const writesOf = (sandbox: Sandbox.RunningSandbox): Readonly<Record<string, Scene>> => ({
  "lists sync": {
    invariant: "the members are those of the file",
    begin: (root) => {
      const users = Array.from({ length: 6 }, () => sandbox.user())
      const list = sandbox.ada.list({ name: "List", members: users.slice(0, 3).map(({ id }) => ({ id })) }).id
      writeFileSync(join(root, "users.txt"), users.slice(2).map(({ id }) => `${id}\n`).join(""))
      return {
        args: ["lists", "sync", list, "users.txt", "--yes"],
        state: () => users.map(({ id }) => sandbox.store.lists.isMember(list, id))
      }
    }
  }
})

const tweet = (id: number) => ({
  tweet: {
    id_str: `900000000000000000${id}`,
    full_text: `archived ${id}`,
    created_at: "Sat Feb 18 12:33:11 +0000 2023",
    lang: "en"
  }
})

const account = { accountId: "1", username: "ada", accountDisplayName: "Ada", createdAt: "2011-06-23T13:04:14.000Z" }

/** The ids of the posts and the users of a copy, whose numbers are larger than JavaScript's. */
const idsOf = (root: string) => {
  using database = new DatabaseSync(join(root, "own.sqlite"), { readOnly: true })
  return ["posts", "users"].map((table) => {
    const statement = database.prepare(`SELECT id FROM "${table}" ORDER BY id`)
    statement.setReadBigInts(true)
    return statement.all().map(({ id }) => String(id))
  })
}

const copiesOf = (sandbox: Sandbox.RunningSandbox): Readonly<Record<string, Scene>> => {
  const sync = (more: object, files: (root: string) => unknown): Scene => ({
    invariant: "every post and user of the service once",
    begin: (root) => {
      const content = { target: "own.sqlite", sources: [{ kind: "posts" }, { kind: "bookmarks" }], ...more }
      writeFileSync(join(root, "postwire.sync.json"), JSON.stringify(content))
      return { args: ["sync", "--yes"], state: () => files(root) }
    }
  })
  return {
    "sync to SQLite": sync({}, idsOf),
    "sync, with a Parquet mirror": sync(
      { parquet: "out" },
      (root) => [idsOf(root), Object.keys(filesOf(join(root, "out")))]
    ),
    "sync import": {
      invariant: "every post of the archive once",
      begin: (root) => {
        writeFileSync(
          join(root, "postwire.sync.json"),
          JSON.stringify({ target: "own.sqlite", sources: [{ kind: "posts" }] })
        )
        writeZip(join(root, "takeout.zip"), {
          "data/account.js": part("account", [{ account: { ...account, accountId: sandbox.ada.id } }]),
          "data/tweets.js": part("tweets", [1, 2, 3, 4].map(tweet))
        })
        return { args: ["sync", "import", "takeout.zip"], state: () => idsOf(root) }
      }
    }
  }
}

/** The settings in a file, or undefined. */
const settingsIn = (file: string): unknown => existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined

const settings: Readonly<Record<string, Scene>> = {
  "config set": {
    invariant: "the settings are the old or the new ones, none lost",
    begin: (root) => {
      const file = join(root, ".config/postwire/config.json")
      mkdirSync(join(root, ".config/postwire"), { recursive: true })
      writeFileSync(file, `{"account":"ada"}`)
      return {
        args: ["config", "set", "askAbove", "20"],
        state: () => settingsIn(file),
        between: () => {
          const text = readFileSync(file, "utf8")
          return text.includes(`"ada"`) && text.trimEnd().endsWith("}")
            ? undefined
            : `the file has ${JSON.stringify(text)}`
        }
      }
    }
  }
}
