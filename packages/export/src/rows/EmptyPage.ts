import type { Page } from "./Page.ts"

/** A page without items, and without a next page. */
export const emptyPage: Page = { items: [], includes: {}, errors: [], next: undefined, rateLimit: undefined }
