/** What a program would write by hand: pages over bare Undici. */
import { Agent, request } from "undici"
import * as Bodies from "./Bodies.ts"

interface Item {
  readonly id: string
}

export interface Page {
  readonly data: ReadonlyArray<Item>
  readonly includes: { readonly users: ReadonlyArray<Item> }
  readonly meta: { readonly next_token?: string }
}

/** The pages that a search finds. */
export async function* pagesOf(baseUrl: string, query: string): AsyncGenerator<Page> {
  const dispatcher = new Agent({ allowH2: false, connections: 64 })
  const headers = { authorization: `Bearer ${Bodies.bearerToken}` }
  const target = baseUrl +
    Bodies.target("neutral", "100 posts").replace(/query=[^&]*/, `query=${encodeURIComponent(query)}`)
  let token: string | undefined
  try {
    do {
      const { body, statusCode } = await request(target + (token === undefined ? "" : `&next_token=${token}`), {
        dispatcher,
        headers
      })
      if (statusCode !== 200) throw new Error(String(statusCode))
      const page = JSON.parse(await body.text())
      yield page
      token = page.meta.next_token
    } while (token !== undefined)
  } finally {
    await dispatcher.close()
  }
}
