/** Groups of tools, which a server offers or not. */

/** A group of tools, for `--toolsets`. */
export const toolsets = [
  "posts",
  "users",
  "lists",
  "bookmarks",
  "trends",
  "messages",
  "jobs",
  "catalogue",
  "writes"
] as const

/** A group of tools, for `--toolsets`. */
export type Toolset = typeof toolsets[number]
