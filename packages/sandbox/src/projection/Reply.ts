/** Replies of handlers, before fields are selected and expansions are joined. */
import type { Entry } from "../http/Problem.ts"
import type { Page } from "../store/Pages.ts"
import type { Content } from "../store/Uploads.ts"

/** The whole answer of an operation: the service selects fields and adds what expansions refer to. */
export interface Reply {
  readonly data?: unknown
  /** A file, which replaces everything else. */
  readonly file?: { readonly type: string; readonly content: Content } | undefined
  readonly errors?: ReadonlyArray<Entry> | undefined
  readonly meta?: Readonly<Record<string, unknown>> | undefined
  /** The cursors of a page, which become tokens. */
  readonly page?: Pick<Page<unknown>, "next" | "previous"> | undefined
}

/** A page of a listing as a reply. */
export const listed = <A extends { readonly id: string }>(page: Page<A>): Reply => ({
  ...(page.items.length === 0 ? {} : { data: page.items }),
  meta: { result_count: page.items.length },
  page
})

/** A page of a listing that comes without a count. */
export const listedUncounted = (page: Page<unknown>): Reply => ({
  ...(page.items.length === 0 ? {} : { data: page.items }),
  meta: {},
  page
})

/** A page of posts as a reply: with the ids at its ends. */
export const listedPosts = <A extends { readonly id: string }>(page: Page<A>): Reply => {
  const reply = listed(page)
  const newest = page.items[0]
  const oldest = page.items.at(-1)
  return newest === undefined || oldest === undefined
    ? reply
    : { ...reply, meta: { newest_id: newest.id, oldest_id: oldest.id, ...reply.meta } }
}
