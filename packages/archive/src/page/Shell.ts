/**
 * The page around the views: it has no data. Its script reads the token from the fragment of the address, which browsers do not send,
 * fetches the views with it, and puts them where they belong.
 */
import { createHash } from "node:crypto"
import { html } from "./Html.ts"

const style = `
:root { color-scheme: light dark; --paper: light-dark(#f6f7f9, #14161a); --sheet: light-dark(#fff, #1c1f25);
  --ink: light-dark(#1a1d23, #e6e8ec); --soft: light-dark(#5a6270, #a3abb8); --line: light-dark(#d5d9e0, #353a44);
  --edge: light-dark(#868e9c, #737c8b); --accent: light-dark(#0b5cad, #7ab8ff); --chosen: light-dark(#e6f0fa, #1d3148) }
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif }
a { color: var(--accent) }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
h1:focus, main:focus { outline: none }
h1 { font-size: 1.375rem; margin: .5rem 0 } h2 { font-size: 1.0625rem; margin: 1.5rem 0 .5rem }
.skip { position: absolute; left: -100rem } .skip:focus { left: .5rem; top: .5rem; background: var(--sheet); padding: .5rem; z-index: 2 }
body > header { position: sticky; top: 0; z-index: 1; background: var(--sheet); border-bottom: 1px solid var(--line) }
body > header > div, main, body > footer { max-width: 46rem; margin: 0 auto; padding: .5rem 1rem }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem }
nav a { color: inherit; text-decoration: none; padding: .125rem 0; border-bottom: 2px solid transparent }
nav a:hover { color: var(--accent) } nav a[aria-current] { border-color: var(--accent); font-weight: 600 }
form { display: flex; flex-wrap: wrap; gap: .5rem; margin-top: .5rem }
input, button { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--edge); border-radius: .375rem; padding: .25rem .625rem; min-width: 0 }
[name=q] { flex: 1 1 14rem } [name=from], [name=since] { flex: 1 1 7rem; max-width: 11rem } button { cursor: pointer }
article, main > figure, .wide { background: var(--sheet); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem; margin: .625rem 0 }
article { scroll-margin: 8rem } article[aria-current] { background: var(--chosen); border-color: var(--accent) }
${[1, 2, 3, 4, 5].map((depth) => `.d${depth} { margin-left: ${depth * 1.25}rem }`).join(" ")}
article header { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: baseline; gap: 0 1rem }
.author { color: inherit; text-decoration: none; font-weight: 600 } .author:hover { text-decoration: underline } .author .soft { font-weight: 400 }
.permalink { color: var(--soft); text-decoration: none } .permalink:hover { text-decoration: underline }
time, td { font-variant-numeric: tabular-nums } time, .number { white-space: nowrap } .permalink, .soft, figcaption, .axis, .top, body > footer { color: var(--soft); font-size: .875rem }
p { margin: .375rem 0 } .text { white-space: pre-wrap } article, h1, p { overflow-wrap: anywhere }
.figures { display: flex; flex-wrap: wrap; gap: 0 1rem; margin-bottom: 0 } .figures:empty { display: none }
blockquote { margin: .5rem 0; padding: 0 .75rem; border-left: 3px solid var(--line) }
.medium { margin: .5rem 0 } .medium:not(:has(img, video)) { padding: .5rem .75rem; border: 1px dashed var(--edge); border-radius: .375rem }
.medium img, .medium video { display: block; max-width: 100%; height: auto; max-height: 30rem; object-fit: contain; border-radius: .375rem; margin-bottom: .25rem }
.more { text-align: center; padding: .75rem }
svg { display: block; width: 100%; height: 8rem; fill: var(--accent) } polyline { fill: none; stroke: var(--accent); stroke-width: 2 }
strong { color: var(--ink) } .axis { display: flex; justify-content: space-between; border-top: 1px solid var(--edge) } .top { text-align: right }
.wide { overflow-x: auto; padding: .25rem 1rem } details .wide { max-height: 20rem; border: 0; padding: 0 }
table { border-collapse: collapse; width: 100% } th, td { text-align: left; padding: .25rem 1rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top }
tr:last-child td { border: 0 } .number { text-align: right } td:last-child, th:last-child { padding-right: 0 }
kbd { font: .8125rem ui-monospace, monospace; border: 1px solid var(--line); border-radius: .25rem; padding: 0 .25rem }
@media (max-width: 36rem) { ${
  [1, 2, 3, 4, 5].map((depth) => `.d${depth} { margin-left: ${depth * .5}rem }`).join(" ")
} body > footer { display: none } body > header { position: static } nav { gap: .25rem .75rem } }
@media (prefers-reduced-motion: no-preference) { main[aria-busy=true] { opacity: .6; transition: opacity .2s .2s } }
`

const script = `
const store = "postwire-archive-token", main = document.querySelector("main"), form = document.querySelector("form")
const given = new URLSearchParams(location.hash.slice(1)).get("token")
if (given !== null) { sessionStorage.setItem(store, given); history.replaceState(null, "", location.pathname + location.search) }
let loading
const show = async (state) => {
  loading?.abort()
  const { signal } = loading = new AbortController()
  main.ariaBusy = "true"
  let view
  try {
    const headers = { authorization: "Bearer " + sessionStorage.getItem(store) }
    const response = await fetch(location.pathname + location.search, { headers, signal })
    view = new DOMParser().parseFromString(await response.text(), "text/html")
  } catch (error) {
    if (signal.aborted) return
    view = new DOMParser().parseFromString("<title>No answer</title><h1 tabindex=-1>No answer</h1><p>Run the command again, and open the address that it prints.", "text/html")
  }
  main.replaceChildren(...view.body.childNodes)
  main.ariaBusy = "false"
  document.title = view.title
  const query = new URLSearchParams(location.search)
  for (const { name } of form.elements) if (name) form.elements[name].value = query.get(name) ?? ""
  for (const link of document.querySelectorAll("nav a")) {
    if (link.pathname === location.pathname) link.ariaCurrent = "page"
    else link.removeAttribute("aria-current")
  }
  const at = document.getElementById(state?.at) ?? main.querySelector("[aria-current]")
  ;(at ?? main.querySelector("h1"))?.focus({ preventScroll: true })
  scrollTo(0, state?.y ?? 0)
  if (!state) at?.scrollIntoView({ block: "nearest" })
}
const remember = () => history.replaceState({ y: scrollY, at: document.activeElement?.closest("article")?.id, own: history.state?.own }, "")
const go = (address) => {
  remember()
  history.pushState(null, "", address)
  history.replaceState({ own: true }, "")
  show()
}
history.scrollRestoration = "manual"
addEventListener("popstate", ({ state }) => show(state ?? { y: 0 }))
addEventListener("click", (event) => {
  const link = event.target.closest("a")
  if (!link || link.origin !== location.origin || link.hash || event.metaKey || event.ctrlKey || event.shiftKey) return
  event.preventDefault()
  go(link.href)
})
form.addEventListener("submit", (event) => {
  event.preventDefault()
  const words = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""))
  go((["/messages", "/users"].includes(location.pathname) ? location.pathname : "/") + (words.size ? "?" + words : ""))
})
addEventListener("keydown", (event) => {
  if (event.metaKey || event.ctrlKey || event.altKey) return
  const isField = event.target.matches("input, textarea, select"), article = event.target.closest("article")
  if (event.key === "Escape") {
    if (isField) (main.querySelector("article") ?? main.querySelector("h1")).focus()
    else if (history.state?.own) history.back()
    else if (location.pathname + location.search !== "/") go("/")
  } else if (isField) return
  else if (event.key === "/") { event.preventDefault(); form.elements.q.focus(); form.elements.q.select() }
  else if (event.key === "Enter" && article === event.target) go(article.querySelector(".permalink").href)
  else if (event.key === "j" || event.key === "k") {
    const all = [...main.querySelectorAll("article, [rel=next]")], step = event.key === "j" ? 1 : -1
    const next = all[Math.max(0, all.indexOf(event.target.closest("article, [rel=next]")) + step)]
    next?.focus({ preventScroll: true })
    next?.scrollIntoView({ block: "nearest" })
  }
})
show()
`

const views = { "/": "Posts", "/messages": "Messages", "/users": "Users", "/charts": "Charts", "/sources": "Sources" }

/** The page for a copy. */
export const page = (name: string): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${name}</title>
<link rel="icon" href="data:,">
<style>${{ html: style }}</style>
</head>
<body>
<a class="skip" href="#main">To the posts</a>
<header><div>
<nav aria-label="Views">${Object.entries(views).map(([path, view]) => html`<a href="${path}">${view}</a> `)}</nav>
<form role="search"><input name="q" type="search" aria-label="Words" placeholder="Words, &quot;a phrase&quot;">
<input name="from" aria-label="By user" placeholder="@user" autocapitalize="off"><input name="since" type="date" aria-label="Since"><button>Search</button></form>
</div></header>
<main id="main" tabindex="-1"><noscript>This page needs JavaScript.</noscript></main>
<footer><bdi>${name}</bdi>. <kbd>/</kbd> search, <kbd>j</kbd> <kbd>k</kbd> next and previous, <kbd>Enter</kbd> thread, <kbd>Esc</kbd> back. Times are UTC.</footer>
<script>${{ html: script }}</script>
</body>
</html>
`.html

const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`

/** The policy of all responses: nothing from elsewhere, and no other script or style. */
export const policy = [
  "default-src 'none'",
  `script-src ${hashOf(script)}`,
  `style-src ${hashOf(style)}`,
  "connect-src 'self'",
  "img-src 'self' data:",
  "media-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join("; ")
