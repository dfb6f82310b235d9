/** Evaluates query terms for a single post. */
import type * as Query from "@postwire/core/query/Query"
import * as Conditions from "../search/Conditions.ts"
import * as Random from "../text/random.ts"
import * as Recognition from "../text/Recognition.ts"
import * as Terms from "../text/Terms.ts"
import { type Content, type PostView, rowOf } from "./PostView.ts"

/** A condition on a post. */
export type Predicate = (post: PostView) => boolean

/** The predicate of a term; undefined if the sandbox does not support it. */
export const ofTerm = (term: Query.Term): Predicate | undefined => {
  const condition = Conditions.of(term)
  if (condition !== undefined) return ofCondition(condition)
  if (term._tag === "Text") return nearby(Terms.words(term.text), term.within ?? 0)
  return term._tag === "Operation" ? ofOperation(term) : undefined
}

const ofCondition = (condition: Conditions.Condition): Predicate => {
  if (condition.in === "facts") {
    const { fact } = condition
    return ({ contents }) => contents.some(({ facts }) => facts.has(fact))
  }
  const { in: column, words } = condition
  const row = rowOf(words)
  return ({ rows }) => rows[column].some((text) => text.includes(row))
}

const ofOperation = (term: Query.Operation): Predicate | undefined => {
  switch (term.name) {
    case "from_affiliate_of":
      return (post) => isAffiliate(post, post.author(), term.value)
    case "to_affiliate_of":
      return (post) => isAffiliate(post, post.addressee(), term.value)
    case "url_title":
      return ofLinks(({ title }) => title, term.value)
    case "url_description":
      return ofLinks(({ description }) => description, term.value)
    case "url_contains": {
      const part = term.value.toLowerCase()
      return ofContents(({ links }) =>
        links.some(({ expanded_url, url }) => [url, expanded_url].some((text) => text.toLowerCase().includes(part)))
      )
    }
    case "context": {
      const { domain, entity } = term.value
      return (post) =>
        post.contexts().some((context) =>
          context.domain.id === domain && (entity === undefined || context.entity.id === entity)
        )
    }
    case "entity": {
      const said = saying(term.value)
      return (post) => post.contexts().some(({ entity }) => said(entity.name))
    }
    case "bio":
      return ofText((post) => post.author()?.description, term.value)
    case "bio_name":
      return ofText((post) => post.author()?.name, term.value)
    case "bio_location":
      return ofText((post) => post.author()?.location, term.value)
    case "place": {
      const said = saying(term.value)
      const id = term.value.toLowerCase()
      return (post) => {
        const place = post.place()
        return place !== undefined && (place.id.toLowerCase() === id || said(place.full_name) || said(place.name))
      }
    }
    case "place_country": {
      const code = term.value.toUpperCase()
      return (post) => post.place()?.country_code.toUpperCase() === code
    }
    case "point_radius": {
      const { kilometres, latitude, longitude } = term.value
      return isWithin((point) => distance([longitude, latitude], point) <= kilometres)
    }
    case "bounding_box": {
      const { east, north, south, west } = term.value
      return isWithin(([longitude, latitude]) =>
        west <= longitude && longitude <= east && south <= latitude && latitude <= north
      )
    }
    case "min_followers":
      return ofCount("followers_count", { least: term.value, most: undefined })
    case "followers_count":
    case "following_count":
    case "listed_count":
      return ofCount(term.name, term.value)
    case "posts_count":
      return ofCount("post_count", term.value)
    case "source": {
      const source = term.value.toLowerCase()
      return ({ indexed }) => (indexed.post.source ?? "Postwire Sandbox").toLowerCase() === source
    }
    case "sample":
      // Depends on the post alone, so that a larger sample contains a smaller one.
      return ({ id }) => Random.make(0, `sample:${id}`).next() * 100 < term.value
    default:
      return undefined
  }
}

const ofContents = (holds: (content: Content) => boolean): Predicate => ({ contents }) => contents.some(holds)

const saying = (phrase: string): (text: string | undefined) => boolean => {
  const row = rowOf(Terms.words(phrase))
  return (text) => text !== undefined && rowOf(Terms.words(text)).includes(row)
}

const ofText = (textOf: (post: PostView) => string | undefined, phrase: string): Predicate => {
  const said = saying(phrase)
  return (post) => said(textOf(post))
}

const ofLinks = (textOf: (page: Recognition.Page) => string | undefined, phrase: string): Predicate => {
  const said = saying(phrase)
  return ofContents(({ links }) => links.some(({ expanded_url }) => said(textOf(Recognition.pageOf(expanded_url)))))
}

const ofCount = (
  metric: "followers_count" | "following_count" | "listed_count" | "post_count",
  { least, most = Infinity }: Query.Range
): Predicate =>
(post) => {
  const count = post.author()?.public_metrics[metric]
  return count !== undefined && least <= count && count <= most
}

const isAffiliate = (post: PostView, user: ReturnType<PostView["author"]>, organization: string): boolean =>
  user?.affiliation?.user_id.some((id) =>
    id === organization || post.user(id)?.username.toLowerCase() === organization.toLowerCase()
  ) ?? false

/**
 * True if the words occur near each other in any order: `distance` other words may be between two of them, and two fewer if
 * they are in reverse order.
 */
const nearby = (phrase: ReadonlyArray<string>, distance: number): Predicate =>
  ofContents(({ words }) => {
    // The start of the phrase implied by each word.
    const beginnings = phrase.map((word) => words.flatMap((said, at) => said === word ? [at] : []))
    const fits = (next: number, taken: ReadonlyArray<number>, first: number, last: number): boolean =>
      last - first <= distance &&
      (next === phrase.length ||
        (beginnings[next] ?? []).some((at) =>
          !taken.includes(at) && fits(next + 1, [...taken, at], Math.min(first, at - next), Math.max(last, at - next))
        ))
    return fits(0, [], Infinity, -Infinity)
  })

type Point = readonly [longitude: number, latitude: number]

/** The location of a post: a point, or the bounding box of a place. */
const isWithin = (holds: (point: Point) => boolean): Predicate => (post) => {
  const { coordinates } = post.indexed.post
  if (coordinates !== undefined) return holds(coordinates.coordinates)
  const place = post.place()
  if (place === undefined) return false
  const [west, south, east, north] = place.geo.bbox
  return [west, east].every((longitude) => [south, north].every((latitude) => holds([longitude, latitude])))
}

/** In kilometres. */
const distance = ([fromLongitude, fromLatitude]: Point, [toLongitude, toLatitude]: Point): number => {
  const radians = (degrees: number) => degrees * Math.PI / 180
  const half = (from: number, to: number) => Math.sin(radians(to - from) / 2) ** 2
  const chord = half(fromLatitude, toLatitude) +
    Math.cos(radians(fromLatitude)) * Math.cos(radians(toLatitude)) * half(fromLongitude, toLongitude)
  return 2 * earth * Math.asin(Math.sqrt(chord))
}

/** The radius of the earth, in kilometres. */
const earth = 6_371
