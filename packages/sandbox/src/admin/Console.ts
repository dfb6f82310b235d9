/** Serves the console: a page that inspects a sandbox and sends requests to it. It prompts for the admin token. */
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Redacted from "effect/Redacted"
import * as Crypto from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { extname } from "node:path"
import * as Problem from "../http/Problem.ts"
import { urlOf } from "../http/RequestTarget.ts"

/** The path of the page. */
export const path = "/console"

/**
 * The URL of the page with the admin token in the fragment, which browsers do not send. Anyone who has this URL controls
 * the sandbox.
 */
export const urlWith = (baseUrl: string, adminToken: Redacted.Redacted): string =>
  `${baseUrl}${path}#token=${encodeURIComponent(Redacted.value(adminToken))}`

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  // Media previews and the empty favicon.
  "img-src 'self' data:",
  "media-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'"
].join("; ")

const headers = {
  "content-security-policy": policy,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  // Revalidated on each load, since another version may have taken the port.
  "cache-control": "no-cache"
}

/** Content types by file extension. */
const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8"
}

interface Asset {
  readonly bytes: Uint8Array
  readonly type: string
  readonly etag: string
}

let assets: ReadonlyMap<string, Asset> | undefined

/** The files by name: in the source folder, or inside a single executable. */
const files = (): ReadonlyArray<readonly [file: string, bytes: Uint8Array]> => {
  // Not imported, because some Node builds lack parts of this module.
  const sea = process.getBuiltinModule("node:sea")
  if (sea.isSea()) {
    const inside = "console/"
    return sea.getAssetKeys()
      .filter((key) => key.startsWith(inside))
      .map((key) => [key.slice(inside.length), new Uint8Array(sea.getRawAsset(key))])
  }
  const folder = new URL("../../src/console/", import.meta.url)
  return readdirSync(folder).map((file) => [file, readFileSync(new URL(file, folder))])
}

/** Loads the files on first use. */
const load = (): ReadonlyMap<string, Asset> => {
  if (assets !== undefined) return assets
  assets = new Map(
    files().flatMap(([file, bytes]) => {
      const type = types[extname(file)]
      if (type === undefined) return []
      return [[file === "page.html" ? path : `${path}/${file}`, {
        bytes,
        type,
        etag: `"${Crypto.hash("sha256", bytes, "base64url")}"`
      }]]
    })
  )
  return assets
}

export const isFor = ({ method, url }: HttpServerRequest.HttpServerRequest): boolean =>
  isRoot(method, url) || url === path || url.startsWith(`${path}/`) || url.startsWith(`${path}?`)

/** True for the address of the sandbox itself, which leads to the page. */
const isRoot = (method: string, url: string): boolean => url === "/" && (method === "GET" || method === "HEAD")

/** Serves the page and its files. */
export const answer = (
  request: HttpServerRequest.HttpServerRequest
): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.sync(() => {
    if (isRoot(request.method, request.url)) return HttpServerResponse.redirect(path, { headers })
    const asset = load().get(urlOf(request)?.pathname ?? "")
    if (asset === undefined || (request.method !== "GET" && request.method !== "HEAD")) {
      return Problem.response(Problem.noRoute())
    }
    const { bytes, etag, type } = asset
    const known = request.headers["if-none-match"]?.split(",").map((tag) => tag.trim().replace(/^W\//, "")) ?? []
    return known.includes(etag) || known.includes("*")
      ? HttpServerResponse.empty({ status: 304, headers: { ...headers, etag } })
      : HttpServerResponse.uint8Array(bytes, { contentType: type, headers: { ...headers, etag } })
  })
