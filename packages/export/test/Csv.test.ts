import { assert, describe, it } from "@effect/vitest"
import { catalogue } from "@postwire/core/Catalogue"
import { searchRecentPosts } from "@postwire/core/operations/Search"
import type { Definition } from "@postwire/core/schema/Definition"
import { parse } from "csv-parse/sync"
import { Arbitrary, Schema } from "effect"
import * as Table from "../src/rows/Table.ts"
import * as Csv from "../src/sinks/Csv.ts"

const table: Table.Table = {
  name: "rows",
  key: "id",
  columns: [
    { name: "id", path: ["id"], type: "text" },
    { name: "text", path: ["text"], type: "text" },
    { name: "count", path: ["count"], type: "integer" },
    { name: "other", path: [], type: "json" }
  ]
}

const written = (rows: ReadonlyArray<object>, guard = false) => {
  const encoder = Csv.encoder(table, guard)
  return encoder.header + encoder.rows(rows)
}

const read = (text: string): ReadonlyArray<Record<string, string>> =>
  parse(text, { columns: true, record_delimiter: "\r\n" })

describe("CSV", () => {
  it.each([
    ["a comma", "a,b", "\"a,b\""],
    ["a quote", "say \"hi\"", "\"say \"\"hi\"\"\""],
    ["a line break", "a\nb", "\"a\nb\""],
    ["a carriage return", "a\rb", "\"a\rb\""],
    ["an emoji", "🌱 é", "🌱 é"],
    ["a formula", "=1+1", "=1+1"],
    ["nothing", "", "\"\""],
    ["spaces", " a ", " a "]
  ])("with %s", (_what, text, field) => {
    const csv = written([{ id: "1882384553028354048", text, count: -5 }])
    assert.strictEqual(csv, `id,text,count,other\r\n1882384553028354048,${field},-5,\r\n`)
    assert.strictEqual(read(csv)[0]?.["text"], text)
  })

  it("guards texts that a spreadsheet would run, and no numbers", () => {
    const hidden = ["\u00a0", "\ufeff", "\u200b", " \u2060\u3000", "\u00ad", "\u0000", "\u202e", "\u115f", "\n"]
    const texts = ["=1+1", "+1", "-1", "@a", "\tx", "\rx", "\nx", "＝1", ...hidden.map((text) => `${text}=1`)]
    for (const text of texts) {
      assert.strictEqual(read(written([{ id: "1", text, count: -5 }], true))[0]?.["text"], `'${text}`)
    }
    for (const text of ["a=b", "\u00a0a", " ", "👩‍💻 - x"]) {
      assert.strictEqual(read(written([{ id: "1", text }], true))[0]?.["text"], text)
    }
    assert.include(written([{ id: "1", text: "a=b", count: -5 }], true), "\n1,a=b,-5,")
  })

  const row = Schema.Struct({ id: Schema.String, text: Schema.String, count: Schema.Int, unknown: Schema.String })

  it.prop(
    "gives every text back",
    { rows: Arbitrary.schema(Schema.Array(row).check(Schema.isMaxLength(8))) },
    ({ rows }) => {
      const back = read(written(rows))
      assert.deepStrictEqual(
        back.map(({ count, id, other, text }) => ({
          id,
          text,
          count: Number(count),
          ...JSON.parse(other ?? "") as object
        })),
        // UTF-8 has no halves of a pair; JSON writes them as escapes.
        rows.map(({ count, id, text, unknown }) => ({
          id: id.toWellFormed(),
          text: text.toWellFormed(),
          count: count + 0,
          unknown
        }))
      )
    },
    { arbitrary: { runs: 300 } }
  )
})

describe("the columns of a table", () => {
  it("are those asked for, in the order of the resource, whatever comes", () => {
    const { columns } = Table.items(searchRecentPosts.definition, {
      post_fields: "public_metrics,created_at",
      expansions: ["author_id"]
    })
    assert.deepStrictEqual(columns.map(({ name, type }) => `${name} ${type}`), [
      "id text",
      "text text",
      "edit_history_post_ids json",
      "author_id text",
      "created_at text",
      "public_metrics_bookmark_count integer",
      "public_metrics_impression_count integer",
      "public_metrics_like_count integer",
      "public_metrics_quote_count integer",
      "public_metrics_reply_count integer",
      "public_metrics_repost_count integer",
      "other json"
    ])
  })

  it("have names of their own, with everything asked for", () => {
    for (const { definition } of Object.values(catalogue)) {
      if ((definition as Definition).paging === undefined) continue
      const everything = Object.fromEntries(
        Object.entries((definition as Definition).query ?? {})
          .filter(([name]) => name === "expansions" || name.endsWith("_fields"))
          .map(([name, { values = [] }]) => [name, values])
      )
      const tables = [
        Table.items(definition, everything),
        ...Table.expected(definition, everything).map((bucket) => Table.included(bucket, everything))
      ]
      for (const { columns, key, name } of tables) {
        const names = columns.map(({ name }) => name.toLowerCase())
        assert.strictEqual(new Set(names).size, names.length, `${definition.name} ${name}`)
        if (key !== undefined) assert.include(names, key)
      }
    }
  })
})
