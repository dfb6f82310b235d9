import { readFileSync } from "node:fs"

const rows = (file: string) => readFileSync(file, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line))

const names = new Map(rows("effect.jsonl.postwire/users.jsonl").map(({ id, username }) => [id, username]))
const authors = Object.groupBy(rows("effect.jsonl"), ({ author_id }) => author_id)
const counts = Object.entries(authors).map(([id, posts = []]) => [names.get(id), posts.length] as const)
for (const [name, posts] of counts.sort(([, a], [, b]) => b - a).slice(0, 3)) console.log(name, posts)
