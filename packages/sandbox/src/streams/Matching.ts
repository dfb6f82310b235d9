/** Finds the rules of an app that a post matches. */
import * as Result from "effect/Result"
import * as Matcher from "../matching/Matcher.ts"
import type { Post } from "../store/Post.ts"
import type { Indexed } from "../store/PostIndex.ts"
import type { Store } from "../store/Store.ts"
import * as IndexedPosts from "./IndexedPosts.ts"

/** The maximum length of a rule at any access level, in characters. */
export const longestRule = 2_048

/** Matches posts against the rules of apps. */
export type Matching = ReturnType<typeof make>

interface Compiled {
  readonly revision: number
  readonly match: Matcher.Matcher
  /** The JSON of each rule's entry, by id. */
  readonly entries: ReadonlyMap<string, string>
}

/** Compiles the rules of an app when they have changed. */
export const make = (store: Store["Service"]) => {
  const { streamRules } = store
  let indexedOf = IndexedPosts.make(store)
  const apps = new Map<string, Compiled>()
  let latest: { readonly post: Post; readonly indexed: Indexed } | undefined
  const compiled = (appId: string): Compiled => {
    const known = apps.get(appId)
    const revision = streamRules.revision()
    if (known?.revision === revision) return known
    const rules = streamRules.list(appId)
    const next = {
      revision,
      match: Matcher.compile(
        rules.flatMap(({ id, value }) => {
          const query = Matcher.parse(value, { maximumLength: longestRule })
          return Result.isSuccess(query) ? [{ id, query: query.success }] : []
        }),
        store
      ),
      entries: new Map(rules.map(({ id, tag = "" }) => [id, JSON.stringify({ id, tag })]))
    }
    apps.set(appId, next)
    return next
  }
  return {
    /** The ids of the rules of an app that a post matches. */
    of: (appId: string, post: Post): ReadonlyArray<string> => {
      // Cached, since several apps match the same post.
      if (latest?.post !== post) latest = { post, indexed: indexedOf(post) }
      return compiled(appId).match(post.id, latest.indexed)
    },
    /** The JSON of `matching_rules`. */
    json: (appId: string, ids: ReadonlyArray<string>): string =>
      `[${ids.map((id) => compiled(appId).entries.get(id)).join(",")}]`,
    /** Clears the caches. */
    clear: (): void => {
      apps.clear()
      indexedOf = IndexedPosts.make(store)
      latest = undefined
    }
  }
}
