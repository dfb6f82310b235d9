/** Selects the requested fields of records, and adds the objects of expansions. */
import type { AnyModel, Kind } from "@postwire/core/schema/Model"
import { Media } from "@postwire/core/schema/models/Media"
import { Place } from "@postwire/core/schema/models/Place"
import { Poll } from "@postwire/core/schema/models/Poll"
import { Post } from "@postwire/core/schema/models/Post"
import { Topic } from "@postwire/core/schema/models/Topic"
import { User } from "@postwire/core/schema/models/User"
import type { ReadRow } from "@postwire/core/schema/Price"
import type { Result } from "@postwire/core/schema/Response"
import * as Problem from "../http/Problem.ts"
import * as MediaFiles from "../media/MediaFiles.ts"
import type * as Records from "../store/Records.ts"
import * as Derived from "./Derived.ts"

/** The selection of a request: `expansions` and the field selectors by parameter name. */
export type Selection = Readonly<Record<string, ReadonlyArray<string>>>

type Item = Readonly<Record<string, unknown>>

/** The data of a response, its related objects and partial errors. */
export interface Projected {
  readonly data: unknown
  readonly includes: Readonly<Record<string, ReadonlyArray<Item>>> | undefined
  readonly errors: ReadonlyArray<Problem.Entry>
  readonly resources: ReadonlyArray<Resource>
}

/** An object in a response. */
export interface Resource {
  /** Undefined for plain data without a model. */
  readonly kind: Kind | undefined
  readonly id: string
  readonly place: "data" | "includes"
  /** The price row of an event. */
  readonly row?: ReadRow | undefined
}

interface Expandable {
  readonly model: AnyModel
  /** The objects of these references, without missing ones. */
  readonly find: (
    references: ReadonlyArray<string>,
    field: string,
    read: Records.Selection | undefined
  ) => ReadonlyArray<Item>
  /** The error for a missing reference. Default: not found. */
  readonly absence?: (named: Problem.Named) => Problem.Entry
}

/** Selects fields and resolves expansions, including the fields that hold the references. */
export const project = (
  scene: Derived.Scene,
  result: Result,
  selection: Selection,
  data: unknown
): Projected => {
  const items = (Array.isArray(data) ? data : [data]) as ReadonlyArray<Item>
  if (!("model" in result) || data === undefined) {
    return { data, includes: undefined, errors: [], resources: Array.isArray(data) ? plainResources(items) : [] }
  }
  const refused: Array<Problem.Entry> = []
  const select = selector(
    scene,
    result.model,
    selection,
    expansionsOf(result.model, selection).map(fieldOf),
    (entry) => {
      refused.push({ ...entry, section: "data" })
    }
  )
  const selected = items.map(select)
  const { errors, includes, resources } = expand(scene, result.model, selection, items)
  const { identifier, kind } = result.model
  return {
    data: Array.isArray(data) ? selected : selected[0],
    includes,
    errors: [...refused, ...errors],
    resources: [...items.map((item) => ({ kind, id: String(item[identifier]), place: "data" as const })), ...resources]
  }
}

const plainResources = (items: ReadonlyArray<Item>): ReadonlyArray<Resource> =>
  items.flatMap(({ id }) => typeof id === "string" ? [{ kind: undefined, id, place: "data" as const }] : [])

/** The requested expansions that a model has. */
const expansionsOf = ({ expansions }: AnyModel, selection: Selection): ReadonlyArray<string> =>
  (selection["expansions"] ?? []).filter((name) => Object.hasOwn(expansions, name))

/** The field that holds the references of an expansion. It is always included, so that clients can join the objects. */
const fieldOf = (expansion: string): string => expansion.split(".", 1)[0] as string

/** The names of the selected fields. */
const namesOf = (model: AnyModel, selection: Selection, expanded: Iterable<string>): ReadonlySet<string> => {
  const asked = model.selector === undefined ? [] : selection[model.selector] ?? []
  const names = new Set([...model.defaults, ...asked, ...expanded])
  if (names.has("topic_ids")) names.add("topics")
  return names
}

/** The fields of the records of a result that its projection reads; undefined for all. */
export const readOf = (result: Result, selection: Selection): Records.Selection | undefined =>
  "model" in result
    ? readIn(result.model, selection, expansionsOf(result.model, selection).map(fieldOf))
    : undefined

const readIn = (model: AnyModel, selection: Selection, expanded: Iterable<string>): Records.Selection | undefined => {
  const always = Derived.always[model.kind]
  const derivations = Derived.of[model.kind] ?? {}
  return always && new Set([
    ...always,
    ...expanded,
    ...Array.from(namesOf(model, selection, expanded)).flatMap((name) => derivations[name]?.reads ?? [name])
  ])
}

const selector = (
  scene: Derived.Scene,
  model: AnyModel,
  selection: Selection,
  expanded: Iterable<string>,
  refuse: (entry: Problem.Entry) => void
): (item: Item) => Item => {
  const derivations = Derived.of[model.kind] ?? {}
  const owned = Derived.privateTo[model.kind]
  const names = namesOf(model, selection, expanded)
  const wanted = Object.keys(model.fields).filter((name) => names.has(name))
  return (item) => {
    const selected: Record<string, unknown> = {}
    const leftOut = item["left_out"]
    for (const name of wanted) {
      const metrics = owned?.fields[name]
      if (
        metrics !== undefined && (scene.viewer.userId === undefined || owned?.ownerOf(item) !== scene.viewer.userId)
      ) {
        const named = { kind: model.kind, id: String(item[model.identifier]), parameter: model.identifier }
        for (const metric of metrics) refuse(Problem.notAuthorizedForField(`${name}.${metric}`, named))
        continue
      }
      if (Array.isArray(leftOut) && leftOut.includes(name)) continue
      const derive = derivations[name]
      const value = derive === undefined ? item[name] : derive.of(item, scene)
      if (value !== undefined) selected[name] = value
    }
    return selected
  }
}

/** The expansion that another one, of the objects that it adds, goes through. */
const detourOf = ({ expansions }: AnyModel, expansion: string) => {
  for (const [through, middle] of Object.entries(expansions)) {
    if (expansion.startsWith(`${through}.`)) return { through, middle, rest: expansion.slice(through.length + 1) }
  }
  return undefined
}

/** The fields of included objects that hold the references of expansions, by kind. */
const reachedBy = (
  model: AnyModel,
  expansions: ReadonlyArray<string>
): { readonly [K in Kind]?: ReadonlySet<string> } => {
  const reached: { [K in Kind]?: Set<string> } = {}
  for (const expansion of expansions) {
    const detour = detourOf(model, expansion)
    if (detour !== undefined) (reached[detour.middle] ??= new Set()).add(fieldOf(detour.rest))
  }
  return reached
}

const expand = (
  scene: Derived.Scene,
  model: AnyModel,
  selection: Selection,
  items: ReadonlyArray<Item>
): Omit<Projected, "data"> => {
  const asked = expansionsOf(model, selection)
  if (asked.length === 0) return { includes: undefined, errors: [], resources: [] }
  const expandables = expandablesOf(scene)
  const found = new Map<Kind, Map<string, Item>>()
  const absent = new Map<string, Problem.Entry>()
  const refused: Array<Problem.Entry> = []
  const reached = reachedBy(model, asked)

  const resolve = (kind: Kind, field: string, references: ReadonlyArray<string>): ReadonlyArray<Item> => {
    const expandable = expandables[kind]
    if (expandable === undefined || references.length === 0) return []
    const read = readIn(expandable.model, selection, reached[kind] ?? [])
    const objects = expandable.find([...new Set(references)], field, read)
    const known = found.get(kind) ?? new Map<string, Item>()
    found.set(kind, known)
    const ids = new Set<unknown>()
    for (const object of objects) {
      known.set(String(object[expandable.model.identifier]), object)
      ids.add(object[expandable.model.identifier]).add(object["username"])
    }
    for (const id of references) {
      if (!ids.has(id)) {
        const absence = expandable.absence ?? Problem.notFound
        absent.set(`${kind} ${id}`, absence({ kind, id, parameter: field, section: "includes" }))
      }
    }
    return objects
  }

  for (const expansion of asked) {
    const kind = model.expansions[expansion]
    if (kind === undefined) continue
    const detour = detourOf(model, expansion)
    if (detour === undefined) resolve(kind, expansion, referencesAt(items, expansion))
    else {
      const { middle, rest, through } = detour
      resolve(kind, expansion, referencesAt(resolve(middle, through, referencesAt(items, through)), rest))
    }
  }

  if (model.kind === "dm_event") addressFiles(items, found.get("media"))

  const includes: Record<string, ReadonlyArray<Item>> = {}
  for (const [kind, objects] of found) {
    const { model: included } = expandables[kind] as Expandable
    if (objects.size > 0) {
      includes[included.includes as string] = [...objects.values()].map(
        selector(scene, included, selection, reached[kind] ?? [], (entry) => {
          refused.push({ ...entry, section: "includes" })
        })
      )
    }
  }
  return {
    includes: Object.keys(includes).length === 0 ? undefined : includes,
    errors: [...absent.values(), ...refused],
    resources: [...found].flatMap(([kind, objects]) =>
      Array.from(objects.keys(), (id) => ({ kind, id, place: "includes" as const }))
    )
  }
}

/** Gives media of messages URLs that contain the message id. */
const addressFiles = (messages: ReadonlyArray<Item>, media: Map<string, Item> | undefined): void => {
  for (const message of messages) {
    for (const key of referencesAt([message], "attachments.media_keys")) {
      const picture = media?.get(key)
      const { url } = picture ?? {}
      if (typeof url === "string") {
        media?.set(key, { ...picture, url: MediaFiles.inMessage(url, String(message["id"])) })
      }
    }
  }
}

/** The references at a dotted path of each item, through arrays. */
const referencesAt = (items: ReadonlyArray<Item>, path: string): ReadonlyArray<string> => {
  let values: ReadonlyArray<unknown> = items
  for (const step of path.split(".")) {
    values = values.flatMap((value) => typeof value === "object" && value !== null ? (value as Item)[step] ?? [] : [])
  }
  return values.filter((value) => typeof value === "string")
}

const expandablesOf = ({ now, store, viewer }: Derived.Scene): { readonly [K in Kind]?: Expandable } => {
  const plain = (found: ReadonlyArray<object>) => found as ReadonlyArray<Item>
  // Mentions refer to users by name, everything else by id.
  const usersAt = (references: ReadonlyArray<string>, field: string, read?: Records.Selection) =>
    field.endsWith(".username") ? store.users.byUsernames(references) : store.users.byIds(references, read)
  return {
    post: {
      model: Post,
      find: (ids, _, read) => plain(store.posts.byIds(ids, viewer, read)),
      absence: (named) => (store.posts.byId(named.id) === undefined ? Problem.notFound : Problem.notAuthorized)(named)
    },
    user: {
      model: User,
      find: (references, field, read) => plain(usersAt(references, field, read).filter(({ suspended }) => !suspended)),
      absence: (named) =>
        (usersAt([named.id], named.parameter).length === 0 ? Problem.notFound : Problem.suspended)(named)
    },
    media: { model: Media, find: (keys) => plain(store.attachments.mediaByKeys(keys)) },
    place: { model: Place, find: (ids) => plain(store.attachments.placesByIds(ids)) },
    poll: { model: Poll, find: (ids) => plain(store.attachments.pollsByIds(ids, now)) },
    topic: { model: Topic, find: (ids) => plain(store.spaces.topicsByIds(ids)) }
  }
}
