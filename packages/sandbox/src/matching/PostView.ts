/** A post for rule matching. Lookups are lazy and cached. */
import type * as Attachments from "../store/Attachments.ts"
import * as PostIndex from "../store/PostIndex.ts"
import type * as Posts from "../store/Posts.ts"
import type * as Users from "../store/Users.ts"
import type * as Entities from "../text/Entities.ts"
import * as Recognition from "../text/Recognition.ts"
import * as Terms from "../text/Terms.ts"

/** Looks up objects that rules refer to. */
export interface Lookups {
  readonly users: Pick<Users.Users, "byId">
  readonly posts: Pick<Posts.Posts, "byId">
  readonly attachments: Pick<Attachments.Attachments, "placesByIds">
}

/** The words and facts of a post's content, as in the index. */
export interface Content {
  readonly text: string
  readonly words: ReadonlyArray<string>
  readonly links: ReadonlyArray<Entities.Link>
  readonly linkWords: ReadonlyArray<string>
  readonly facts: ReadonlySet<string>
}

/** The words in one string, so that a phrase is a substring. */
export const rowOf = (words: ReadonlyArray<string>): string => ` ${words.join(" ")} `

/** A post and the objects that it refers to. */
export interface PostView {
  readonly id: string
  readonly indexed: PostIndex.Indexed
  /** Its content and that of the quoted post. */
  readonly contents: ReadonlyArray<Content>
  /** The words of the contents and of their links. */
  readonly rows: { readonly text: ReadonlyArray<string>; readonly urls: ReadonlyArray<string> }
  readonly author: () => Users.User | undefined
  readonly addressee: () => Users.User | undefined
  readonly user: (id: string) => Users.User | undefined
  readonly place: () => Attachments.Place | undefined
  readonly contexts: () => ReadonlyArray<Recognition.Context>
}

export const make = (id: string, indexed: PostIndex.Indexed, { attachments, posts, users }: Lookups): PostView => {
  const { addressee, author, entities, post } = indexed
  const own = contentOf(post.text, entities, PostIndex.factsOf(indexed))
  const quoted = post.quotedPostId === undefined ? undefined : posts.byId(post.quotedPostId)
  const contents = quoted === undefined || quoted.scopes?.followers === true ? [own] : [
    own,
    contentOf(
      quoted.note_post?.text ?? quoted.text,
      quoted.note_post?.entities ?? quoted.entities,
      PostIndex.contentOf(quoted.note_post?.entities ?? quoted.entities, quoted.attachments?.media_keys)
    )
  ]
  return {
    id,
    indexed,
    contents,
    rows: {
      text: contents.map(({ words }) => rowOf(words)),
      urls: contents.map(({ linkWords }) => rowOf(linkWords))
    },
    author: once(() => users.byId(author.id)),
    addressee: once(() => addressee && users.byId(addressee.id)),
    user: users.byId,
    place: once(() => post.placeId === undefined ? undefined : attachments.placesByIds([post.placeId])[0]),
    contexts: once(() => contents.flatMap(({ text }) => Recognition.contextsOf(text) ?? []))
  }
}

const contentOf = (
  text: string,
  entities: Entities.Entities | undefined,
  facts: ReadonlyArray<Terms.Fact>
): Content => ({
  text,
  words: Terms.words(text),
  links: entities?.urls ?? [],
  linkWords: PostIndex.linksOf(entities),
  facts: new Set(facts.map(Terms.spell))
})

const once = <A>(find: () => A): () => A => {
  let found: { readonly value: A } | undefined
  return () => (found ??= { value: find() }).value
}
