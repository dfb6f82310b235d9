/** What a browser and an app do when a user signs in, by hand. */
import { assert } from "@effect/vitest"
import { createHash } from "node:crypto"

export const verifier = "a-verifier-of-forty-three-characters-at-least"
export const challenge = createHash("sha256").update(verifier).digest("base64url")
export const redirect = "http://localhost:8080/callback"

/** Sends a form, and follows no redirect. */
export const post = (url: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(url, { method: "POST", body: new URLSearchParams(form), headers, redirect: "manual" })

/** The `Authorization` header of a confidential client. */
export const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`
})

/** Answers the form of a page as a browser sends it; what is not said is as the page has it. */
export const answerForm = async (
  page: Response,
  { decision = "allow", other = "", user }: {
    readonly decision?: "allow" | "deny"
    readonly user?: string
    readonly other?: string
  } = {}
) => {
  const text = await page.text()
  const find = (pattern: RegExp) => pattern.exec(text)?.[1] ?? assert.fail(`${pattern} is not in ${text}`)
  return post(new URL(find(/action="([^"]+)"/), page.url).href, {
    form_token: find(/name="form_token" value="([^"]+)"/),
    user: user ?? find(/name="user" value="([^"]+)" checked/),
    other,
    decision
  }, { origin: new URL(page.url).origin })
}

/** Where an answer leads to. */
export const locationOf = (response: Response): URL => {
  assert.strictEqual(response.status, 303, response.url)
  return new URL(response.headers.get("location") ?? "")
}

/** The address of the page, with what a client says; `undefined` leaves something out. */
export const authorizeUrl = (
  baseUrl: string,
  clientId: string,
  said: Readonly<Record<string, string | undefined>> = {}
): string => {
  const all = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirect,
    scope: "tweet.read users.read offline.access",
    state: "xyz",
    code_challenge: challenge,
    code_challenge_method: "S256",
    ...said
  }
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return `${baseUrl}/i/oauth2/authorize?${new URLSearchParams(given)}`
}
