/** Long posts with their whole text: the service has it in `note_post`, and only its beginning in `text`. */
import type { Page } from "./Page.ts"
import { names, type Table } from "./Table.ts"

type Parameters = Readonly<Record<string, unknown>>

/** Parameters that request the whole text, too. */
export const requesting = (parameters: Parameters): Parameters =>
  isRequested(parameters)
    ? parameters
    : { ...parameters, post_fields: [...names(parameters["post_fields"]), "note_post"] }

/** Checks whether parameters request the whole text. */
export const isRequested = (parameters: Parameters): boolean => hasField(parameters, "note_post")

const hasField = (parameters: Parameters, name: string): boolean => names(parameters["post_fields"]).includes(name)

/** Joins pages: long posts have their whole text in `text`, and its entities if these are requested, and no `note_post`. */
export const joiner = (parameters: Parameters): (page: Page) => Page => {
  const hasEntities = hasField(parameters, "entities")
  const joined = (post: Long): object => {
    const { note_post: note, ...rest } = post
    if (note?.text === undefined) return post
    return { ...rest, text: note.text, ...hasEntities && { entities: { ...rest.entities, ...note.entities } } }
  }
  return (page) => {
    const { posts } = page.includes
    return {
      ...page,
      items: page.items.map(joined),
      includes: posts === undefined ? page.includes : { ...page.includes, posts: posts.map(joined) }
    }
  }
}

interface Long {
  readonly entities?: object
  readonly note_post?: { readonly text?: string; readonly entities?: object }
}

/** A table without columns for the parts that are joined. */
export const joinedTable = (table: Table): Table => ({
  ...table,
  columns: table.columns.filter(({ path: [name] }) => name !== "note_post")
})
