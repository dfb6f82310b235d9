import type { Page } from "./Page.ts"

/** The only page where there is nothing. */
export const emptyPage: Page = { items: [], includes: {}, errors: [], next: undefined, rateLimit: undefined }
