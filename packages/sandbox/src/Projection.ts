/** From full records to an answer: the fields that were asked for, and the objects that expansions bring. */
import type { AnyModel, Kind } from "@postwire/core/Model"
import { Media } from "@postwire/core/models/Media"
import { Place } from "@postwire/core/models/Place"
import { Poll } from "@postwire/core/models/Poll"
import { Post } from "@postwire/core/models/Post"
import { User } from "@postwire/core/models/User"
import type { Result } from "@postwire/core/Response"
import * as Problem from "./Problem.ts"
import type { Store } from "./store/Store.ts"

/** What a request selects: `expansions` and the field selectors by parameter name. */
export type Selection = Readonly<Record<string, ReadonlyArray<string>>>

type Item = Readonly<Record<string, unknown>>

/** An answer's data, its related objects and what could not be found. */
export interface Projected {
  readonly data: unknown
  readonly includes: Readonly<Record<string, ReadonlyArray<Item>>> | undefined
  readonly errors: ReadonlyArray<Problem.Entry>
}

interface Expandable {
  readonly model: AnyModel
  /** The objects of these references, missing ones left out. */
  readonly find: (references: ReadonlyArray<string>, field: string) => ReadonlyArray<Item>
}

/** Selects fields and resolves expansions. */
export const project = (
  store: Store["Service"],
  now: number,
  result: Result,
  selection: Selection,
  data: unknown
): Projected => {
  if (result._tag === "Value" || data === undefined) return { data, includes: undefined, errors: [] }
  const items = (Array.isArray(data) ? data : [data]) as ReadonlyArray<Item>
  const select = selector(result.model, selection)
  const selected = items.map(select)
  const { errors, includes } = expand(store, now, result.model, selection, items)
  return { data: Array.isArray(data) ? selected : selected[0], includes, errors }
}

const selector = (model: AnyModel, selection: Selection): (item: Item) => Item => {
  const names = new Set([...model.defaults, ...(model.selector === undefined ? [] : selection[model.selector] ?? [])])
  const wanted = Object.keys(model.fields).filter((name) => names.has(name))
  return (item) => {
    const selected: Record<string, unknown> = {}
    for (const name of wanted) {
      if (item[name] !== undefined) selected[name] = item[name]
    }
    return selected
  }
}

const expand = (
  store: Store["Service"],
  now: number,
  model: AnyModel,
  selection: Selection,
  items: ReadonlyArray<Item>
): Omit<Projected, "data"> => {
  const asked = selection["expansions"] ?? []
  if (asked.length === 0) return { includes: undefined, errors: [] }
  const expandables = expandablesOf(store, now)
  const found = new Map<Kind, Map<string, Item>>()
  const absent = new Map<string, Problem.Entry>()

  const resolve = (kind: Kind, field: string, references: ReadonlyArray<string>): ReadonlyArray<Item> => {
    const expandable = expandables[kind]
    if (expandable === undefined || references.length === 0) return []
    const objects = expandable.find([...new Set(references)], field)
    const known = found.get(kind) ?? new Map<string, Item>()
    found.set(kind, known)
    const ids = new Set<unknown>()
    for (const object of objects) {
      known.set(String(object[expandable.model.identifier]), object)
      ids.add(object[expandable.model.identifier]).add(object["username"])
    }
    for (const id of references) {
      if (!ids.has(id)) {
        absent.set(`${kind} ${id}`, Problem.notFound({ kind, id, parameter: field, section: "includes" }))
      }
    }
    return objects
  }

  for (const expansion of asked) {
    const kind = model.expansions[expansion]
    if (kind === undefined) continue
    const through = Object.keys(model.expansions).find((prefix) => expansion.startsWith(`${prefix}.`))
    if (through === undefined) {
      resolve(kind, expansion, referencesAt(items, expansion))
    } else {
      const between = resolve(model.expansions[through] as Kind, through, referencesAt(items, through))
      resolve(kind, expansion, referencesAt(between, expansion.slice(through.length + 1)))
    }
  }

  const includes: Record<string, ReadonlyArray<Item>> = {}
  for (const [kind, objects] of found) {
    const { model: included } = expandables[kind] as Expandable
    if (objects.size > 0) {
      includes[included.includes as string] = [...objects.values()].map(selector(included, selection))
    }
  }
  return { includes: Object.keys(includes).length === 0 ? undefined : includes, errors: [...absent.values()] }
}

/** The references at a dotted path of each item; arrays on the way are walked. */
const referencesAt = (items: ReadonlyArray<Item>, path: string): ReadonlyArray<string> => {
  let values: ReadonlyArray<unknown> = items
  for (const step of path.split(".")) {
    values = values.flatMap((value) => typeof value === "object" && value !== null ? (value as Item)[step] ?? [] : [])
  }
  return values.filter((value) => typeof value === "string")
}

const expandablesOf = (store: Store["Service"], now: number): { readonly [K in Kind]?: Expandable } => {
  const plain = (found: ReadonlyArray<object>) => found as ReadonlyArray<Item>
  return {
    post: { model: Post, find: (ids) => plain(store.posts.byIds(ids)) },
    user: {
      model: User,
      // Mentions refer to users by name, everything else by id.
      find: (references, field) =>
        plain(field.endsWith(".username") ? store.users.byUsernames(references) : store.users.byIds(references))
    },
    media: { model: Media, find: (keys) => plain(store.attachments.mediaByKeys(keys)) },
    place: { model: Place, find: (ids) => plain(store.attachments.placesByIds(ids)) },
    poll: { model: Poll, find: (ids) => plain(store.attachments.pollsByIds(ids, now)) }
  }
}
