/**
 * The files in what is uploaded and published: each as somebody has it, in place of how somebody else has it. What is not as it
 * should be is left as it is, for the core to refuse.
 */
import * as Predicate from "effect/Predicate"
import type * as Publish from "../publishing/Publish.ts"

type Subtitled<I> = Pick<Publish.Media<I>, "subtitles">

/** Those of the options of an upload. */
export const ofUpload = <I, J, O extends Subtitled<I>>(
  options: O,
  f: (input: I) => J
): Omit<O, "subtitles"> & Subtitled<J> => {
  const { subtitles, ...rest } = options
  return subtitles === undefined
    ? rest
    : { ...rest, subtitles: each(subtitles, (one) => isObject(one) ? { ...one, file: f(one.file) } : one) }
}

/** Those of a post. */
export const ofPost = <I, J>(post: Publish.Post<I>, f: (input: I) => J): Publish.Post<J> => {
  if (!isObject(post)) return post
  const { media, ...rest } = post
  const ofMedia = (one: I | Publish.Media<I>) => isMedia(one) ? { ...ofUpload(one, f), file: f(one.file) } : f(one)
  return media === undefined ? rest : { ...rest, media: each(media, ofMedia) }
}

/** Those of posts. */
export const ofPosts = <I, J>(
  posts: ReadonlyArray<Publish.Post<I>>,
  f: (input: I) => J
): ReadonlyArray<Publish.Post<J>> => each(posts, (post) => ofPost(post, f))

const each = <A, B>(given: ReadonlyArray<A>, f: (one: A) => B): ReadonlyArray<B> => isList(given) ? given.map(f) : given

const isList = <A>(given: ReadonlyArray<A>): given is ReadonlyArray<A> => Array.isArray(given)

const isObject = <A extends object>(given: A): given is A => Predicate.isObject(given)

const isMedia = <I>(one: I | Publish.Media<I>): one is Publish.Media<I> => Predicate.hasProperty(one, "file")
