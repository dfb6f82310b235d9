// Type tests of all operations at once: what each can fail with, what it takes, what it returns.
import type { aliases, Catalogue } from "@postwire/core/Catalogue"
import type { Client } from "@postwire/core/client/Client"
import type { Paged } from "@postwire/core/client/Operation"
import type * as Errors from "@postwire/core/errors/Errors"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type operations from "../fixtures/operations.json"

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
const assertType = <T extends true>(): T | void => undefined

// What came after the specification is like these.
type Specified = keyof typeof operations
type Name = Specified | keyof typeof aliases
// Inside a mapped type, `Equal` would be decided before the name is known.
type IsAny<A> = 0 extends 1 & A ? true : false
type Same<A, B> = IsAny<A> extends true ? false : [A] extends [B] ? [B] extends [A] ? true : false : false
type All<Checks extends { readonly [N in Name]?: boolean }> = Equal<Checks[keyof Checks], true>

type Creating =
  | "createPost"
  | "createDirectMessage"
  | "createDm"
  | "createDirectMessageConversation"
  | "createDmConversation"
type Choosing =
  | "getUser"
  | "getUsers"
  | "getSpaces"
  | "getDirectMessageEvents"
  | "getDmEvents"
  | "createDirectMessage"
  | "createDm"
type Paging =
  | "getBookmarks"
  | "getLikingUsers"
  | "getLikedPosts"
  | "getQuotePosts"
  | "getReposters"
  | "searchAllPosts"
  | "searchRecentPosts"
  | "getUsersMentions"
  | "getHomeTimeline"
  | "getUsersPosts"
  | "getAllPostsCount"
  | "getRecentPostsCount"
  | "getSpaceBuyers"
  | "getSpacePosts"
  | "getBlocked"
  | "getUsersFollowers"
  | "getUsersFollowing"
  | "getMuted"
  | "getDirectMessageEvents"
  | "getDmEvents"
  | "getListPosts"
  | "getListFollowers"
  | "getFollowedLists"

type Expected<N extends Name> =
  | Errors.OperationError
  | (N extends Choosing ? Errors.ConflictingIdentifiers : never)
  | (N extends Creating ? Errors.OutcomeUnknown : never)

// Errors are exact, of calls and of pages.
assertType<
  All<
    {
      [N in Name]: ReturnType<Catalogue[N]> extends Effect.Effect<infer _A, infer E, infer R>
        ? [Same<E, Expected<N>>, Same<R, Client>] extends [true, true] ? true : false
        : false
    }
  >
>()
assertType<
  All<
    {
      [N in Paging]: ReturnType<Catalogue[N]["items" | "pages" | "joined"]> extends
        Stream.Stream<infer _A, infer E, infer R>
        ? [Same<E, Expected<N> | Errors.PaginationStuck>, Same<R, Client>] extends [true, true] ? true : false
        : false
    }
  >
>()
// The check itself can fail.
// @ts-expect-error too many
assertType<Same<Expected<"getPost">, Expected<"getUser">>>()
// @ts-expect-error too few
assertType<Same<Expected<"createDm">, Expected<"createPost">>>()
// @ts-expect-error one is none
assertType<All<{ getPost: true; getPosts: false }>>()

// What pages is just that.
assertType<Equal<{ [N in Name]: "items" extends keyof Catalogue[N] ? N : never }[Name], Paging>>()
assertType<
  Equal<{ [N in Name]: Catalogue[N] extends Paged<infer _P, infer _R, infer _S, infer _E> ? N : never }[Name], Paging>
>()

// Aliases are the operations themselves.
assertType<Equal<Catalogue["follow"], Catalogue["followUser"]>>()
assertType<Equal<Catalogue["unfollow"], Catalogue["unfollowUser"]>>()
assertType<Equal<Catalogue["getDmEvents"], Catalogue["getDirectMessageEvents"]>>()
assertType<Equal<Catalogue["createDm"], Catalogue["createDirectMessage"]>>()
assertType<Equal<Catalogue["createDmConversation"], Catalogue["createDirectMessageConversation"]>>()

// user_auth is a parameter where the specification has it.
type WithoutUserAuth =
  | "bookmark"
  | "getBookmarks"
  | "removeBookmark"
  | "searchAllPosts"
  | "getAllPostsCount"
  | "getRecentPostsCount"
  | "searchSpaces"
  | "getSpaces"
  | "getSpace"
  | "getSpaceBuyers"
  | "getSpacePosts"
type ParametersOf<N extends Name> = Catalogue[N] extends (...args: infer A) => unknown ? NonNullable<A[0]> : never
type KeysOf<P> = P extends unknown ? keyof P : never
assertType<Equal<{ [N in Name]: "user_auth" extends KeysOf<ParametersOf<N>> ? never : N }[Name], WithoutUserAuth>>()
