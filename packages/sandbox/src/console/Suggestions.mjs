// Suggests known ids and usernames in fields.
import { call } from "./AdminCalls.mjs"
import { box, make } from "./Elements.mjs"
import { credentials } from "./Operations.mjs"

/**
 * @import { Operation, Parameter } from "../admin/Description.ts"
 * @import { Item } from "../store/Overview.ts"
 * @typedef {{ readonly collection: string; readonly value: string; readonly label: (item: Item) => string }} Known
 */

/** The number of suggestions of a collection. */
const most = 30

/** @type {Readonly<Record<string, Known>>} */
const known = {
  users: { collection: "users", value: "id", label: ({ name, username }) => `@${username}, ${name}` },
  handles: { collection: "users", value: "username", label: ({ name }) => `${name}` },
  posts: { collection: "posts", value: "id", label: ({ author, text }) => `@${author}: ${`${text}`.slice(0, 80)}` },
  lists: { collection: "lists", value: "id", label: ({ name, owner }) => `${name}, of @${owner}` },
  spaces: { collection: "spaces", value: "id", label: ({ title }) => `${title}` },
  folders: { collection: "bookmark_folders", value: "id", label: ({ name, user }) => `${name}, of @${user}` },
  media: {
    collection: "uploads",
    value: "id",
    label: ({ category, content_type, owner }) => [content_type, category, `of @${owner}`].filter(Boolean).join(", ")
  },
  conversations: { collection: "conversations", value: "id", label: ({ participants }) => `${participants}` }
}

/**
 * The collection that a parameter refers to; that of an `id` is determined by its path.
 * @param {Parameter} parameter
 * @param {Operation["routes"]} routes
 */
export const knownTo = ({ kind, name }, routes) => {
  if (name === "username") return "handles"
  if (kind !== "id") return undefined
  const route = routes[0]?.neutral ?? ""
  if (name === "id") {
    return route.includes("/2/media/")
      ? "media"
      : /\/2\/(users|posts|lists|spaces)\/:id/.exec(route)?.[1]
  }
  if (/(media|subtitles)_id$/.test(name)) return "media"
  if (/(user|participant)_id$/.test(name)) return "users"
  if (/(post|since|until)_id$/.test(name)) return "posts"
  return { list_id: "lists", folder_id: "folders", dm_conversation_id: "conversations" }[name]
}

/** The id of the list of what is known. @param {string | undefined} kind */
export const listOf = (kind) => kind === undefined ? undefined : `known-${kind}`

/** @param {string} kind */
const offer = async (kind) => {
  const { collection, label, value } = known[kind] ?? {}
  if (label === undefined || value === undefined) return
  /** @param {string} query */
  const read = async (query) => (await call("GET", `/state/${collection}?limit=${most}${query}`)).items
  // The user of the token first.
  const mine = collection === "users" && credentials !== undefined ? await read(`&user=${credentials.user.id}`) : []
  /** @type {ReadonlyArray<Item>} */
  const items = [...mine, ...await read("")]
  const options = new Map(items.map((item) => [`${item[value]}`, label(item)]))
  box(`known-${kind}`).replaceChildren(...[...options].map(([value, text]) => make("option", { value }, text)))
}

export const start = () => {
  document.body.append(...Object.keys(known).map((kind) => make("datalist", { id: `known-${kind}` })))
  document.addEventListener("focusin", ({ target }) => {
    const list = target instanceof HTMLInputElement ? target.getAttribute("list") : null
    // Suggestions are optional.
    if (list !== null) offer(list.replace(/^known-/, "")).catch(() => {})
  })
}
