/** HTML pages without scripts or external files, suitable for phones. */
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Crypto from "node:crypto"
import type { App } from "../store/Credentials.ts"
import type { User } from "../store/Users.ts"

/** Markup. Other values are escaped. */
export class Html {
  readonly markup: string
  constructor(markup: string) {
    this.markup = markup
  }
}

/** Markup with interpolated values. */
export const html = (
  strings: TemplateStringsArray,
  ...values: ReadonlyArray<string | Html | ReadonlyArray<Html>>
): Html =>
  new Html(
    strings.reduce((markup, string, i) => {
      const value = values[i - 1] ?? ""
      return markup + (typeof value === "string"
        ? escaped(value)
        : value instanceof Html
        ? value.markup
        : value.map(({ markup }) => markup).join("")) +
        string
    })
  )

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

export interface Page {
  readonly title: string
  readonly body: Html
  readonly status?: number
  /** The URL that a form of the page may redirect to. */
  readonly leadsTo?: string | undefined
}

export const page = ({ body, leadsTo, status = 200, title }: Page): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(
    `<!doctype html>\n${
      html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${new Html(style)}</style>
</head>
<body>
<main>
${body}
<footer>This is a sandbox: its users are fictitious, and its tokens are valid nowhere else.</footer>
</main>
</body>
</html>
`.markup
    }`,
    {
      status,
      contentType: "text/html; charset=utf-8",
      headers: {
        "content-security-policy": [
          "default-src 'none'",
          `style-src 'sha256-${Crypto.hash("sha256", style, "base64")}'`,
          "img-src data:",
          "base-uri 'none'",
          // Browsers apply this to the redirect after a form too.
          `form-action 'self'${leadsTo === undefined ? "" : ` ${originOf(leadsTo)}`}`,
          "frame-ancestors 'none'"
        ].join("; "),
        "x-content-type-options": "nosniff",
        // Without a referrer, a form would send no origin.
        "referrer-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        "cache-control": "no-store"
      }
    }
  )

/** The origin of a URL, or its scheme if it is an app's own. */
const originOf = (address: string): string => {
  const { origin, protocol } = new URL(address)
  return origin === "null" ? protocol : origin
}

/** A page with only a message. */
export const notice = (title: string, text: string, status = 200): HttpServerResponse.HttpServerResponse =>
  page({ title, status, body: html`<h1>${title}</h1>\n<p>${text}</p>` })

/** The contents of a consent page. */
export interface Question {
  readonly app: App
  /** The permissions, in words and by scope. */
  readonly wishes: ReadonlyArray<{ readonly meaning: string; readonly name: string }>
  /** The users to choose from; the first is preselected. */
  readonly users: ReadonlyArray<User>
  /** The action of the form. */
  readonly action: string
  readonly formToken: string
  /** The redirect URL; undefined if the page shows a PIN. */
  readonly redirect: string | undefined
  /** The error in the previous submission. */
  readonly complaint?: string | undefined
}

/** A consent page. */
export const question = (
  { action, app, complaint, formToken, redirect, users, wishes }: Question
): HttpServerResponse.HttpServerResponse =>
  page({
    title: `Allow ${app.name}?`,
    status: complaint === undefined ? 200 : 422,
    leadsTo: redirect,
    body: html`<h1>Allow <em>${app.name}</em> to act for you?</h1>
<p>It will be able to:</p>
<ul>
${wishes.map(({ meaning, name }) => html`<li>${meaning} <code>${name}</code></li>\n`)}</ul>
<form method="post" action="${action}">
<input type="hidden" name="form_token" value="${formToken}">
<fieldset>
<legend>Who are you?</legend>
<div class="users">
${
      users.map((user, i) =>
        html`<label class="user"><input type="radio" name="user" value="${user.username}"${
          i === 0 ? new Html(" checked") : ""
        }><span><b>@${user.username}</b> <small>${user.name}</small></span></label>\n`
      )
    }</div>
<label for="other">Or another username</label>
<input id="other" name="other" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="100"${
      complaint === undefined ? "" : new Html(` aria-invalid="true" aria-describedby="complaint"`)
    }>
${complaint === undefined ? "" : html`<p id="complaint" class="complaint" role="alert">${complaint}</p>\n`}</fieldset>
<div class="choice">
<button name="decision" value="allow" class="primary">Allow</button>
<button name="decision" value="deny">Deny</button>
</div>
</form>
<p class="hint">${
      redirect === undefined
        ? "This page will then show a PIN to enter in the app."
        : html`You will be redirected to <code>${redirect}</code>`
    }</p>`
  })

const style = `
:root {
  color-scheme: light dark;
  --paper: #f6f7f9; --sheet: #fff; --ink: #1a1d23; --soft: #5a6270; --line: #d5d9e0; --edge: #868e9c;
  --accent: #0b5cad; --on-accent: #fff; --chosen: #e8f1fb; --bad: #b3261e; --code: #f0f2f5;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14161a; --sheet: #1c1f25; --ink: #e6e8ec; --soft: #a3abb8; --line: #353a44; --edge: #737c8b;
    --accent: #7ab8ff; --on-accent: #0b1622; --chosen: #1d3048; --bad: #ff8a80; --code: #14161a;
  }
}
* { box-sizing: border-box; }
body { margin: 0; padding: 1rem; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main {
  max-width: 34rem; margin: 2rem auto; padding: 1.25rem; background: var(--sheet);
  border: 1px solid var(--line); border-radius: 6px; overflow-wrap: anywhere;
}
h1 { margin: 0 0 .75rem; font-size: 1.25rem; line-height: 1.3; }
h1 em { font-style: normal; color: var(--accent); }
p { margin: .5rem 0; }
ul { margin: .5rem 0 1rem; padding-left: 1.25rem; }
li { margin: .125rem 0; }
code { padding: 0 .25rem; background: var(--code); border-radius: 3px; color: var(--soft); font-size: .8125rem; }
fieldset { margin: 0; padding: .75rem; border: 1px solid var(--line); border-radius: 6px; }
legend, fieldset > label { font-weight: 600; font-size: .875rem; }
.users { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(11rem, 100%), 1fr)); gap: .5rem; margin: .25rem 0 .75rem; }
.user {
  display: flex; align-items: center; gap: .5rem; min-height: 2.75rem; padding: .25rem .625rem;
  border: 1px solid var(--edge); border-radius: 4px; cursor: pointer;
}
.user:hover { border-color: var(--accent); }
.user:has(:checked) { border-color: var(--accent); background: var(--chosen); }
.user:has(:focus-visible) { outline: 2px solid var(--accent); outline-offset: 2px; }
.user input { margin: 0; accent-color: var(--accent); }
.user small { color: var(--soft); display: block; }
.user span { min-width: 0; line-height: 1.25; }
#other {
  width: 100%; min-height: 2.5rem; padding: .25rem .5rem; background: var(--sheet); color: inherit; font: inherit;
  border: 1px solid var(--edge); border-radius: 4px;
}
#other[aria-invalid] { border-color: var(--bad); }
.complaint { color: var(--bad); font-weight: 600; }
.choice { display: flex; gap: .5rem; margin: 1rem 0; }
button {
  flex: 1; min-height: 2.75rem; font: inherit; font-weight: 600; color: inherit; background: var(--sheet);
  border: 1px solid var(--edge); border-radius: 4px; cursor: pointer;
}
button:hover { border-color: var(--accent); }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.pin { margin: 1rem 0; font: 700 2rem/1.2 ui-monospace, "DejaVu Sans Mono", monospace; letter-spacing: .25em; text-align: center; }
.hint, footer { color: var(--soft); font-size: .8125rem; }
footer { margin-top: 1.25rem; padding-top: .75rem; border-top: 1px solid var(--line); }
`
