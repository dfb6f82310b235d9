/** What the rows of files hold: ids, users or queries, in any form that people write them. */

/** What the rows of a file are. */
export interface Kind {
  /** For messages, such as `the id of a post`. */
  readonly what: string
  /** The columns that hold them, most telling first: which one counts in files that have several. */
  readonly columns: ReadonlyArray<string>
  /** The value as it is used; none where a text is no such thing. */
  readonly read: (text: string, column: string | undefined) => string | undefined
  /** Whether a value that begins with `@` is a name that has to be looked up. */
  readonly hasNames?: true
}

const id = /^\d{1,19}$/

/** Ids of something, in one of the columns. */
export const ids = (what: string, columns: ReadonlyArray<string>): Kind => ({
  what,
  columns: [...columns, "id"],
  read: (text) => id.test(text) ? text : undefined
})

/** Ids of posts, or their addresses. */
export const posts: Kind = {
  what: "the id of a post",
  columns: ["post_id", "tweet_id", "status_id", "id", "id_str", "post", "tweet", "url"],
  read: (text) =>
    id.test(text) ? text : /^https?:\/\/[^/]+\/(?:[^/]+|i\/web)\/status\/(\d{1,19})(?:[/?#].*)?$/.exec(text)?.[1]
}

/** Users: ids as they are, and names as `@name`, from names with and without the sign and from the addresses of profiles. */
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

/** What is all digits is a name there. */
const namesOfNames = new Set(["username", "screen_name", "handle"])

/** Queries of searches. */
export const queries: Kind = {
  what: "a query",
  columns: ["query", "q", "search"],
  read: (text) => text === "" ? undefined : text
}
