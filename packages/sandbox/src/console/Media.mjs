// Uploaded media: progress, processing state and preview.
import { onClick } from "./Actions.mjs"
import { call } from "./AdminCalls.mjs"
import { box, button, fill, make, span } from "./Elements.mjs"
import { look, watch } from "./Live.mjs"

/** @import { Item, Part } from "../store/Overview.ts" */

const uploadsPerPage = 12

let most = uploadsPerPage

/** @param {Item} upload */
const create = (upload) =>
  make(
    "li",
    { class: "upload" },
    make("div", { class: "preview" }),
    make("div", { class: "name" }),
    make("dl"),
    make("progress", { "aria-label": `Upload ${upload["id"]}` })
  )

/** @param {HTMLElement} element @param {Item} upload @param {number} now */
const update = (element, upload, now) => {
  const [preview, name, facts, progress] = element.children
  const { done, look, words } = stateOf(upload, now)
  if (preview !== undefined) showPreview(preview, upload, look === "good")
  if (name !== undefined) {
    name.textContent = [upload["content_type"] ?? "of unknown type", size(upload["received_bytes"])].join(", ")
  }
  if (facts instanceof HTMLElement) {
    fill(facts, [["state", words, look], ...factsOf(upload)], {
      key: (fact) => JSON.stringify(fact),
      create: ([name = "", value = "", look]) =>
        make("div", {}, make("dt", {}, name), make("dd", { class: look }, value))
    })
  }
  if (progress instanceof HTMLProgressElement) {
    progress.hidden = done === undefined
    progress.value = done ?? 0
  }
}

/**
 * The state by the clock of the service, and its appearance.
 * @param {Item} upload
 * @param {number} now
 * @returns {{ readonly words: string, readonly look: string, readonly done?: number }}
 */
const stateOf = ({ expires_at, failure, finalized_at, ready_at, received_bytes, segments, total_bytes, used }, now) => {
  const left = Date.parse(`${expires_at}`) - now
  if (used !== true && left <= 0) return { words: "expired", look: "bad" }
  if (finalized_at === null) {
    const all = total_bytes === null ? "" : ` of ${size(total_bytes)}`
    return {
      words: `${size(received_bytes)}${all} in ${segments} ${segments === 1 ? "segment" : "segments"}; expires in ${
        span(left)
      }`,
      look: "warn",
      ...(total_bytes === null ? {} : { done: share(Number(received_bytes), Number(total_bytes)) })
    }
  }
  const [from, to] = [Date.parse(`${finalized_at}`), Date.parse(`${ready_at}`)]
  if (now < to) {
    return { words: `processed, ready in ${span(to - now)}`, look: "warn", done: share(now - from, to - from) }
  }
  if (failure !== null) return { words: `failed: ${failure}`, look: "bad" }
  return { words: used === true ? "in use" : `ready; expires in ${span(left)} unless used`, look: "good" }
}

/** @param {number} part @param {number} whole */
const share = (part, whole) => whole <= 0 ? 1 : Math.max(0, Math.min(part / whole, 1))

/** @param {Item} upload @returns {ReadonlyArray<readonly [name: string, value: string, look?: string]>} */
const factsOf = ({ alt_text, category, duration_ms, height, id, owner, subtitles, width }) => {
  const sides = width === null || height === null ? "" : `${width} x ${height}`
  const duration = duration_ms === null ? "" : `${Number(duration_ms) / 1_000} s`
  return /** @type {const} */ ([
    ["id", `${id}`],
    ["owner", `@${owner}`],
    ["category", `${category ?? ""}`],
    ["measures", [sides, duration].filter((text) => text !== "").join(", ")],
    ["alt text", `${alt_text ?? ""}`],
    ["subtitles", `${subtitles ?? ""}`]
  ]).filter(([, value]) => value !== "")
}

/** The preview, if browsers can display it. @param {Element} box @param {Item} upload @param {boolean} isReady */
const showPreview = (box, { alt_text, content_type, id, url }, isReady) => {
  const path = isReady ? pathOf(url) : ""
  const said = `${path} ${alt_text ?? ""}`
  if (box.getAttribute("data-said") === said) return
  box.setAttribute("data-said", said)
  const type = `${content_type}`
  const element = path === ""
    ? undefined
    : type.startsWith("video/")
    ? make("video", { src: path, controls: true, preload: "metadata", "aria-label": `${alt_text ?? `Video ${id}`}` })
    : type.startsWith("image/")
    ? make("img", { src: path, loading: "lazy", alt: `${alt_text ?? ""}` })
    : undefined
  element?.addEventListener("error", () => box.replaceChildren("no preview"))
  box.replaceChildren(element ?? "no preview")
}

/** The path at which the sandbox serves media; undefined for other URLs. @param {Item[string] | undefined} url */
const pathOf = (url) => {
  const address = typeof url === "string" && URL.canParse(url, location.href) ? new URL(url, location.href) : undefined
  return address?.origin === location.origin && address.pathname.startsWith("/media/") ? address.pathname : ""
}

/** @param {Item[string] | undefined} bytes */
const size = (bytes) => {
  const count = Number(bytes)
  if (count < 1e3) return `${count} B`
  return count < 1e6 ? `${(count / 1e3).toFixed(1)} kB` : `${(count / 1e6).toFixed(1)} MB`
}

export const start = () => {
  watch("media", async () => {
    /** @type {Part} */
    const { items, next } = await call("GET", `/state/uploads?limit=${most}`)
    return (now) => {
      box("media-empty").hidden = items.length > 0
      button("media-more").hidden = next === undefined
      fill(box("uploads"), items, {
        key: ({ id }) => `${id}`,
        create,
        update: (element, upload) => update(element, upload, now)
      })
    }
  })
  onClick("media-more", async () => {
    most += uploadsPerPage
    await look()
    return ""
  })
}
