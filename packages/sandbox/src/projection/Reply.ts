/** Replies of handlers, before field selection and expansion. */
import type { Entry } from "../http/Problem.ts"
import type { Page } from "../store/Pages.ts"
import type { Content } from "../store/Uploads.ts"

/** The reply of a handler. */
export interface Reply {
  readonly data?: unknown
  /** A JSON object, which replaces everything else. */
  readonly document?: object
  /** A file, which replaces everything else. */
  readonly file?: { readonly type: string; readonly content: Content } | undefined
  readonly errors?: ReadonlyArray<Entry> | undefined
  readonly meta?: Readonly<Record<string, unknown>> | undefined
  /** The cursors of a page, which become tokens. */
  readonly page?: Pick<Page<unknown>, "next" | "previous"> | undefined
}

export const listed = <A extends { readonly id: string }>(page: Page<A>): Reply => ({
  ...(page.items.length === 0 ? {} : { data: page.items }),
  meta: { result_count: page.items.length },
  page
})

/** The reply for a page without a count. */
export const listedUncounted = (page: Page<unknown>): Reply => ({
  ...(page.items.length === 0 ? {} : { data: page.items }),
  meta: {},
  page
})

/** The reply for a page of posts, with the newest and oldest id. */
export const listedPosts = <A extends { readonly id: string }>(page: Page<A>): Reply => {
  const reply = listed(page)
  const newest = page.items[0]
  const oldest = page.items.at(-1)
  return newest === undefined || oldest === undefined
    ? reply
    : { ...reply, meta: { newest_id: newest.id, oldest_id: oldest.id, ...reply.meta } }
}
