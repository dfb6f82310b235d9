/** Prefix search: each word of the query must be the prefix of a word of the text. */

/** The words of a query, as the JSON that `match` takes. */
export const wordsOf = (query: string): string =>
  JSON.stringify(
    query.split(/[^\p{L}\p{N}_'#@]+/u).filter((word) => word !== "").map((word) => word.replace(/[\\%_]/g, "\\$&"))
  )

/** SQL condition: each of `:words` is the prefix of a word of a text. */
export const match = (text: string): string => `
  NOT EXISTS (SELECT 1 FROM json_each(:words) w WHERE ' ' || ${text} NOT LIKE '% ' || w.value || '%' ESCAPE '\\')`
