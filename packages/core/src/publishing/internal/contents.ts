/** Hashes of everything that is published under a key. */
import * as Predicate from "effect/Predicate"
import type * as Source from "../../media/Source.ts"
import * as VersionedRecord from "../../storage/VersionedRecord.ts"
import type { Media, Post } from "../PublishOptions.ts"

/** A hash that identifies the posts of a thread. Files are identified by name. */
export const ofPosts = (posts: ReadonlyArray<Post>): string => hashOf(posts.map(outlineOf))

/** A hash that is the same for values that differ in the order of properties and the form of ids alone. */
export const hashOf = (value: unknown): string => VersionedRecord.digestOf(JSON.stringify(value, plain))

const outlineOf = ({ media = [], ...post }: Post) => ({ ...post, media: media.map(fileOf) })

/** The identity of a file. */
export const fileOf = (given: Source.Input | Media): unknown => {
  if (!Predicate.hasProperty(given, "file")) return nameOfInput(given)
  const { alt, category, file, subtitles, type } = given
  const tracks = subtitles?.map(({ file, language, name }) => [nameOfInput(file), language, name])
  return { file: nameOfInput(file), alt, category, type, subtitles: tracks }
}

/** The name of a file. Its bytes are not read: the files of what is finished may be gone. */
const nameOfInput = (input: Source.Input): unknown =>
  "name" in input && input.name !== undefined
    ? input.name
    : "size" in input
    ? input.size
    : "byteLength" in input
    ? input.byteLength
    : null

/** Normalizes the order of properties and the form of ids. */
const plain = (_: string, value: unknown): unknown => {
  if (typeof value === "bigint" || typeof value === "number") return String(value)
  if (!Predicate.isObject(value) || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1))
}
