/** The kinds of rows in files: ids, users or queries, in any usual notation. */

/** A kind of rows. */
export interface Kind {
  /** For messages, such as `the id of a post`. */
  readonly what: string
  /** The columns with such values, most specific first: the first one found is used. */
  readonly columns: ReadonlyArray<string>
  /** The normalized value, or `undefined` if the text is invalid. */
  readonly read: (text: string, column: string | undefined) => string | undefined
  /** True if a value that starts with `@` is a name to look up. */
  readonly hasNames?: true
}

const id = /^\d{1,19}$/

/** Ids in one of the columns. */
export const ids = (what: string, columns: ReadonlyArray<string>): Kind => ({
  what,
  columns: [...columns, "id"],
  read: (text) => id.test(text) ? text : undefined
})

/** Ids or addresses of posts. */
export const posts: Kind = {
  what: "the id of a post",
  columns: ["post_id", "tweet_id", "status_id", "id", "id_str", "post", "tweet", "url"],
  read: (text) =>
    id.test(text) ? text : /^https?:\/\/[^/]+\/(?:[^/]+|i\/web)\/status\/(\d{1,19})(?:[/?#].*)?$/.exec(text)?.[1]
}

/** Users: ids, or `@name` for names with and without the sign and for addresses of profiles. */
export const users: Kind = {
  what: "the id or the name of a user",
  columns: ["user_id", "author_id", "id", "username", "screen_name", "handle", "user", "account", "id_str", "name"],
  read: (text, column = "") => {
    if (id.test(text) && !namesOfNames.has(column)) return text
    const name = /^(?:@|https?:\/\/(?:[^/]+\.)?(?:x|twitter)\.com\/)?([A-Za-z0-9_]{1,15})\/?$/.exec(text)?.[1]
    return name && `@${name}`
  },
  hasNames: true
}

/** The columns in which a number is a name. */
const namesOfNames = new Set(["username", "screen_name", "handle"])

/** Search queries. */
export const queries: Kind = {
  what: "a query",
  columns: ["query", "q", "search"],
  read: (text) => text === "" ? undefined : text
}
