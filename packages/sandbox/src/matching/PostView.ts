/** A post as rules see it. What takes a look-up is found out when a rule asks for it, and once. */
import type * as Attachments from "../store/Attachments.ts"
import * as PostIndex from "../store/PostIndex.ts"
import type * as Posts from "../store/Posts.ts"
import type * as Users from "../store/Users.ts"
import type * as Entities from "../text/Entities.ts"
import * as Recognition from "../text/Recognition.ts"
import * as Terms from "../text/Terms.ts"

/** Where the rest of what rules ask about a post is found. */
export interface Lookups {
  readonly users: Pick<Users.Users, "byId">
  readonly posts: Pick<Posts.Posts, "byId">
  readonly attachments: Pick<Attachments.Attachments, "placesByIds">
}

/** What somebody posted: words and facts as the index has them. */
export interface Content {
  readonly text: string
  readonly words: ReadonlyArray<string>
  readonly links: ReadonlyArray<Entities.Link>
  readonly linkWords: ReadonlyArray<string>
  readonly facts: ReadonlySet<string>
}

/** Words, so that a row of them is a part of the text. */
export const rowOf = (words: ReadonlyArray<string>): string => ` ${words.join(" ")} `

/** A post, and what is known of those that it names. */
export interface PostView {
  readonly id: string
  readonly indexed: PostIndex.Indexed
  /** Its own content, and that of the post that it quotes. */
  readonly contents: ReadonlyArray<Content>
  /** The rows of words of the contents and of their links. */
  readonly rows: { readonly text: ReadonlyArray<string>; readonly urls: ReadonlyArray<string> }
  readonly author: () => Users.User | undefined
  readonly addressee: () => Users.User | undefined
  readonly user: (id: string) => Users.User | undefined
  readonly place: () => Attachments.Place | undefined
  readonly contexts: () => ReadonlyArray<Recognition.Context>
}

/** A post as it was given to the index. */
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
