// The console page. Everything that comes from the service is untrusted: it is shown as text, never as markup.

/**
 * @import { Operation, Parameter, Request } from "../Description.ts"
 * @import { Active, Rule } from "../Faults.ts"
 * @import { Entry } from "../Journal.ts"
 * @import { Standing, Usage } from "../RateLimits.ts"
 * @import { Part } from "../store/Overview.ts"
 */

/**
 * @typedef {Omit<Entry, "body" | "headers">} Line
 * @typedef {{ readonly user: { readonly id: string; readonly username: string }; readonly bearerToken: string; readonly appBearerToken: string }} Credentials
 */

const { document } = globalThis

// ---- Elements

/**
 * The element with an id.
 * @template {HTMLElement} E
 * @param {string} id
 * @param {new () => E} type
 * @returns {E}
 */
const at = (id, type) => {
  const found = document.getElementById(id)
  if (!(found instanceof type)) throw new Error(`#${id} is missing`)
  return found
}

/** @param {string} id */
const button = (id) => at(id, HTMLButtonElement)
/** @param {string} id */
const input = (id) => at(id, HTMLInputElement)
/** @param {string} id */
const select = (id) => at(id, HTMLSelectElement)
/** @param {string} id */
const box = (id) => at(id, HTMLElement)

/**
 * A new element with attributes and children; text stays text.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Readonly<Record<string, string | boolean | undefined>>} [attributes]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[T]}
 */
const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "")
    else if (typeof value === "string") element.setAttribute(name, value)
  }
  element.append(...children)
  return element
}

/** @param {unknown} value */
const pretty = (value) => JSON.stringify(value, undefined, 2)

/** @param {number} millis */
const isoTime = (millis) => new Date(millis).toISOString()

// ---- Admin calls

const kept = "postwire-admin-token"

/** What an admin call was refused with. */
class Refused extends Error {
  /**
   * @param {number} status
   * @param {string} message
   * @param {ReadonlyArray<string>} parameters
   */
  constructor(status, message, parameters) {
    super(message)
    this.status = status
    this.parameters = parameters
  }
}

/** @param {Response} response */
const refusalOf = async (response) => {
  const problem = await response.json().catch(() => ({}))
  const [first] = Array.isArray(problem?.errors) ? problem.errors : []
  return new Refused(
    response.status,
    String(first?.message ?? problem?.detail ?? `The sandbox answered with ${response.status}.`),
    Object.keys(first?.parameters ?? {})
  )
}

/**
 * The answer to an admin call.
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 */
const ask = async (method, path, body) => {
  const isFile = body instanceof Blob
  const response = await fetch(`/_sandbox${path}`, {
    method,
    headers: {
      authorization: `Bearer ${sessionStorage.getItem(kept) ?? ""}`,
      ...(body === undefined || isFile ? {} : { "content-type": "application/json" })
    },
    body: body === undefined ? null : isFile ? body : JSON.stringify(body)
  })
  if (!response.ok) throw await refusalOf(response)
  return response
}

/**
 * The document of an admin call.
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 */
const call = async (method, path, body) => (await ask(method, path, body)).json()

/** @param {string} text */
const notify = (text) => void (box("notice").textContent = text)

/**
 * Does what was asked for and says so, or what is wrong.
 * @param {() => Promise<string>} work
 */
const act = (work) => {
  notify("")
  work().then(notify, failed)
}

/** @param {unknown} error */
const failed = (error) => {
  if (error instanceof Refused && error.status === 401) lock("The sandbox does not accept this admin token.")
  else if (error instanceof Refused) notify(error.message)
  else notify("The sandbox does not answer.")
}

// ---- Token

/** @param {string} reason */
const lock = (reason) => {
  sessionStorage.removeItem(kept)
  clearTimeout(timer)
  box("main").hidden = true
  box("clock").hidden = true
  box("gate").hidden = false
  box("connection").textContent = ""
  notify("")
  box("gate-error").textContent = reason
  input("token").toggleAttribute("aria-invalid", false)
  if (reason !== "") input("token").setAttribute("aria-invalid", "true")
  input("token").focus()
}

/** Takes the token out of the address, so that it is in no history and on no screen. */
const takeToken = () => {
  const token = new URLSearchParams(location.hash.slice(1)).get("token")
  if (token === null) return false
  sessionStorage.setItem(kept, token)
  history.replaceState(null, "", location.pathname)
  return true
}

const open = async () => {
  if (sessionStorage.getItem(kept) === null) return lock("")
  try {
    const [described, found] = await Promise.all([call("GET", "/operations"), call("GET", "/credentials")])
    operations = described.operations
    credentials = found
  } catch (error) {
    return failed(error)
  }
  const focused = document.activeElement
  box("gate").hidden = true
  box("main").hidden = false
  box("clock").hidden = false
  if (focused === null || focused === document.body || box("gate").contains(focused)) box("main").focus()
  fillOperations()
  shown.clear()
  last = 0
  await tick()
  await Promise.all([count(), show()])
}

/** @type {ReadonlyArray<Operation>} */
let operations = []
/** @type {Credentials | undefined} */
let credentials

// ---- What is looked at every second

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer
/** @type {Promise<void> | undefined} */
let ticking

/** Looks again, now and then every second. */
const tick = () => ticking ??= look().finally(() => void (ticking = undefined))

const look = async () => {
  clearTimeout(timer)
  try {
    if (!document.hidden) {
      const follow = input("follow").checked
      const [clock, budget, faults, journal] = await Promise.all([
        call("GET", "/clock"),
        call("GET", "/budget"),
        call("GET", "/faults"),
        follow ? call("GET", `/journal/lines?after=${last}`) : undefined
      ])
      const now = Date.parse(clock.now)
      showClock(now)
      showWindows(budget.windows, now)
      showCap(budget.posts)
      showRules(faults.faults)
      if (journal !== undefined) showJournal(journal)
    }
    box("connection").textContent = `Connected to ${location.host}`
    box("connection").classList.remove("lost")
  } catch (error) {
    if (error instanceof Refused) return failed(error)
    box("connection").textContent = "The sandbox does not answer. Trying again."
    box("connection").classList.add("lost")
  }
  timer = setTimeout(tick, 1_000)
}

/** @param {number} now */
const showClock = (now) => {
  const time = at("now", HTMLTimeElement)
  time.dateTime = isoTime(now)
  time.textContent = `${isoTime(now).slice(0, 19).replace("T", " ")} UTC`
}

/**
 * A list whose elements stay the same while their keys do, so that focus and reading position stay too.
 * @template A
 * @param {HTMLElement} list
 * @param {ReadonlyArray<A>} items
 * @param {(item: A) => string} keyOf
 * @param {(item: A) => HTMLElement} create
 * @param {(element: HTMLElement, item: A) => void} update
 */
const keyed = (list, items, keyOf, create, update) => {
  const known = new Map([...list.children].map((child) => [child.getAttribute("data-key") ?? "", child]))
  items.forEach((item, i) => {
    const key = keyOf(item)
    let element = known.get(key)
    known.delete(key)
    if (!(element instanceof HTMLElement)) {
      element = create(item)
      element.setAttribute("data-key", key)
    }
    if (list.children[i] !== element) list.insertBefore(element, list.children[i] ?? null)
    if (element instanceof HTMLElement) update(element, item)
  })
  for (const gone of known.values()) gone.remove()
}

/** @param {string} label */
const bar = (label) =>
  make(
    "li",
    { class: "bar" },
    make("span", { class: "name" }, label),
    make("span", { class: "left" }),
    make("progress", { "aria-label": label })
  )

/**
 * @param {HTMLElement} element
 * @param {number} value
 * @param {number} maximum
 * @param {string} text
 */
const setBar = (element, value, maximum, text) => {
  const [, left, progress] = element.children
  if (left !== undefined) left.textContent = text
  if (progress instanceof HTMLProgressElement) {
    progress.max = maximum
    progress.value = value
    progress.classList.toggle("low", value < maximum / 5)
  }
}

/** @param {string} key */
const whose = (key) => {
  const [form, , user] = key.split(" ")
  return form === "app" ? "the app" : user === credentials?.user.id ? `@${credentials?.user.username}` : `user ${user}`
}

/** @param {number} millis */
const span = (millis) => {
  const seconds = Math.max(0, Math.ceil(millis / 1_000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`
}

/**
 * @param {ReadonlyArray<Standing>} windows
 * @param {number} now
 */
const showWindows = (windows, now) => {
  const keyOf = (/** @type {Standing} */ { credential, operation }) => `${operation} ${credential}`
  box("windows-empty").hidden = windows.length > 0
  keyed(
    box("windows"),
    [...windows].sort((a, b) => keyOf(a) < keyOf(b) ? -1 : 1),
    keyOf,
    ({ credential, operation }) => bar(`${operation}, ${whose(credential)}`),
    (element, { limit, remaining, resetAt }) =>
      setBar(element, remaining, limit, `${remaining} of ${limit} left, anew in ${span(resetAt - now)}`)
  )
}

/** @param {ReadonlyArray<Usage>} posts */
const showCap = (posts) => {
  box("cap-empty").hidden = posts.length > 0
  keyed(
    box("cap"),
    posts,
    ({ project }) => project,
    ({ project }) => bar(`Project ${project}`),
    (element, { maximum, posts }) =>
      setBar(element, posts, maximum, `${posts.toLocaleString("en")} of ${maximum.toLocaleString("en")}`)
  )
}

// ---- Journal

/** @type {Map<number, Line>} */
const shown = new Map()
let last = 0

/** More lines than these are not on the page. */
const most = 500

/** @param {{ readonly oldest: number; readonly lines: ReadonlyArray<Line> }} journal */
const showJournal = ({ lines, oldest }) => {
  for (const id of shown.keys()) if (id < oldest) shown.delete(id)
  for (const line of lines) {
    shown.set(line.id, line)
    last = line.id
  }
  for (const id of shown.keys()) if (shown.size > most) shown.delete(id)
  showLines()
}

const matches = (/** @type {Line} */ { fault, operation, status }) => {
  const part = input("journal-operation").value.trim().toLowerCase()
  const wanted = select("journal-status").value
  if (part !== "" && !(operation ?? "").toLowerCase().includes(part)) return false
  if (wanted === "none") return status === undefined
  return wanted === "fault" ? fault !== undefined : String(status ?? "").startsWith(wanted)
}

const showLines = () => {
  const found = [...shown.values()].filter(matches).reverse()
  box("journal-empty").hidden = found.length > 0
  box("journal-empty").textContent = shown.size === 0 ? "No requests yet." : "No request matches."
  keyed(box("lines"), found, ({ id }) => String(id), lineOf, () => {})
}

const lineOf = (/** @type {Line} */ { at, fault, id, method, operation, path, status }) => {
  const look = status === undefined || status >= 500 ? "bad" : status >= 400 ? "warn" : "good"
  const toggle = make(
    "button",
    { type: "button", "aria-expanded": "false" },
    make("span", {}, isoTime(at).slice(11, 19)),
    make("span", { class: `status ${look}` }, status === undefined ? "none" : String(status)),
    make("span", { class: "what mono" }, `${method} ${path}`),
    make("span", { class: "operation" }, `${operation ?? "no operation"}${fault === undefined ? "" : ", fault"}`)
  )
  const item = make("li", {}, toggle)
  toggle.addEventListener("click", () => {
    if (!close(item)) act(() => expand(item, toggle, id))
  })
  item.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && close(item)) toggle.focus()
  })
  return item
}

/** @param {HTMLElement} item */
const close = (item) => {
  const details = item.querySelector("pre")
  details?.remove()
  item.querySelector("button")?.setAttribute("aria-expanded", "false")
  return details !== null
}

/**
 * @param {HTMLElement} item
 * @param {HTMLElement} toggle
 * @param {number} id
 */
const expand = async (item, toggle, id) => {
  const entry = await call("GET", `/journal/${id}`)
  close(item)
  item.append(make("pre", { tabindex: "0", role: "region", "aria-label": `Request ${id}` }, pretty(entry)))
  toggle.setAttribute("aria-expanded", "true")
  return ""
}

// ---- Faults

/** @type {ReadonlyArray<readonly [label: string, behaviour: Partial<Rule>]>} */
const kinds = [
  ["503, retry after 1 second", { status: 503, headers: { "retry-after": "1" } }],
  ["500", { status: 500 }],
  ["502 with a page of HTML", { status: 502, body: "html" }],
  ["429", { status: 429 }],
  ["2 seconds of delay", { delay: "2 seconds" }],
  ["a body that comes slowly", { pause: "200 millis" }],
  ["a body cut in half", { truncate: true }],
  ["broken connection, work not done", { reset: "before" }],
  ["broken connection, work done", { reset: "after" }],
  ["broken JSON", { body: "broken-json" }],
  ["an empty body", { body: "empty" }],
  ["a body of 256 MiB", { body: "huge" }],
  ["no rate-limit headers", { rateLimitHeaders: "missing" }],
  ["absurd rate-limit headers", { rateLimitHeaders: "absurd" }],
  ["an empty page that has a next one", { page: "empty" }],
  ["a short page", { page: "short" }],
  ["a token that leads to itself", { page: "repeated-token" }]
]

/** @param {ReadonlyArray<Active>} rules */
const showRules = (rules) => {
  box("faults-empty").hidden = rules.length > 0
  keyed(
    box("rules"),
    rules,
    ({ id }) => String(id),
    ({ id }) => {
      const remove = make("button", { type: "button", "aria-label": `Remove fault ${id}` }, "Remove")
      remove.addEventListener("click", () =>
        act(async () => {
          await call("DELETE", `/faults/${id}`)
          await tick()
          select("fault-operation").focus()
          return `Fault ${id} is removed.`
        }))
      return make("li", {}, make("code"), make("span", { class: "hint" }), remove)
    },
    (element, { met, rule }) => {
      const [code, hint] = element.children
      const text = JSON.stringify(rule)
      if (code !== undefined && code.textContent !== text) code.textContent = text
      if (hint !== undefined) hint.textContent = `met ${met} times`
    }
  )
}

const addFault = async () => {
  const [, behaviour] = kinds[Number(select("fault-kind").value)] ?? []
  const operation = select("fault-operation").value
  const times = select("fault-times").value
  const { id } = await call("POST", "/faults", {
    ...behaviour,
    ...(operation === "" ? {} : { operation }),
    nth: Number(input("fault-nth").value),
    ...(times.includes(".") ? { probability: Number(times) } : { times: times === "always" ? times : Number(times) })
  })
  await tick()
  return `Fault ${id} is added.`
}

// ---- Requests

const fillOperations = () => {
  const options = () => operations.map(({ name }) => make("option", { value: name }, name))
  const { value } = select("operation")
  select("operation").replaceChildren(...options())
  select("operation").value = operations.some(({ name }) => name === value) ? value : "searchRecentPosts"
  select("fault-operation").replaceChildren(make("option", { value: "" }, "all"), ...options())
  showForm()
}

const operation = () => operations.find(({ name }) => name === select("operation").value)

const showForm = () => {
  const chosen = operation()
  if (chosen === undefined) return
  const wire = select("wire").value === "x" ? "x" : "neutral"
  const { credentials, effect, limits, pageToken, parameters, routes, rules, summary } = chosen
  select("credential").value = credentials.includes("OAuth 2.0 Application-Only") && effect === "read"
    ? select("credential").value
    : "user"
  box("about").replaceChildren(
    make("div", {}, `${summary} ${limits === undefined ? "" : `${limits}. `}Takes: ${credentials.join(", ")}.`),
    ...routes.map((route) => make("div", { class: "mono" }, route[wire])),
    ...rules.map((rule) => make("div", {}, `Rule: ${rule}.`))
  )
  const known = new Map(fields().map((field) => [field.name, field.value]))
  const isLast = (/** @type {Parameter} */ { name }) => name === pageToken
  const ordered = [...parameters].sort((a, b) => Number(isLast(a)) - Number(isLast(b)))
  const plain = ordered.filter(({ selector }) => !selector)
  const selectors = ordered.filter(({ selector }) => selector)
  box("parameters").replaceChildren(...plain.map((parameter) => fieldOf(parameter, wire)))
  box("selector-parameters").replaceChildren(...selectors.map((parameter) => fieldOf(parameter, wire)))
  box("selectors").hidden = selectors.length === 0
  // What was typed for another operation, or before the words were changed.
  for (const field of fields()) if (field.name !== pageToken) field.value = known.get(field.name) ?? field.value
  showPages({})
}

/**
 * @param {Parameter} parameter
 * @param {"neutral" | "x"} wire
 */
const fieldOf = (parameter, wire) => {
  const { default: otherwise, key, kind, name, open, place, required, rule, values = [] } = parameter
  const id = `parameter-${name}`
  const common = { id, name, "aria-describedby": `${id}-rule`, "aria-required": required ? "true" : undefined }
  const isArray = kind === "list" && place === "body"
  const isLong = isArray || name === "text" || name === "query" || parameter.selector
  const choices = kind === "boolean" ? ["true", "false"] : kind === "choice" && !open ? values : undefined
  const field = choices !== undefined
    ? make("select", common, make("option", { value: "" }, ""), ...choices.map((value) => make("option", {}, value)))
    : isArray || name === "text"
    ? make("textarea", { ...common, spellcheck: "false", rows: "2" })
    : make("input", {
      ...common,
      autocomplete: "off",
      spellcheck: "false",
      inputmode: kind === "integer" ? "numeric" : undefined
    })
  const hints = [
    `${key[wire] === name ? "" : `Sent as ${key[wire]}. `}${rule[0]?.toUpperCase()}${rule.slice(1)}.`,
    otherwise === undefined ? "" : `Default ${otherwise}.`,
    isArray ? "One per line, or with commas." : "",
    kind === "list" && values.length > 0 ? `Known: ${values.join(", ")}.` : ""
  ]
  return make(
    "div",
    { class: isLong ? "field long" : "field" },
    make("label", { for: id }, name, ...(required ? [make("span", { class: "needed" }, " (required)")] : [])),
    field,
    make("span", { class: "hint", id: `${id}-rule` }, hints.filter((hint) => hint !== "").join(" "))
  )
}

/** @returns {ReadonlyArray<HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>} */
const fields = () =>
  [...box("send-form").querySelectorAll("input, select, textarea")].flatMap((field) =>
    (field instanceof HTMLInputElement || field instanceof HTMLSelectElement || field instanceof HTMLTextAreaElement) &&
      field.name !== ""
      ? [field]
      : []
  )

/** Bodies longer than this, in bytes, are shown in part. */
const longest = 1_000_000

/** @type {AbortController} */
let sending = new AbortController()

const send = async () => {
  const chosen = operation()
  if (chosen === undefined || credentials === undefined) return
  const wire = select("wire").value
  const token = select("credential").value === "app" ? credentials.appBearerToken : credentials.bearerToken
  sending.abort()
  const { signal } = sending = new AbortController()
  box("send-error").textContent = ""
  for (const field of fields()) field.removeAttribute("aria-invalid")
  /** @type {Request} */
  let request
  try {
    request = await call("POST", "/request", {
      operation: chosen.name,
      wire,
      parameters: Object.fromEntries(
        fields().flatMap(({ name, value }) => value === "" ? [] : [[name, value]])
      )
    })
  } catch (error) {
    if (!(error instanceof Refused) || error.status === 401) return failed(error)
    box("send-error").textContent = error.message
    const wrong = fields().filter(({ name }) => error.parameters.includes(name))
    for (const field of wrong) field.setAttribute("aria-invalid", "true")
    wrong[0]?.closest("details")?.setAttribute("open", "")
    wrong[0]?.focus()
    return
  }
  const { body, method, path } = request
  box("exchange").hidden = false
  box("request").textContent = [
    `${method} ${location.origin}${path}`,
    "authorization: Bearer <redacted>",
    ...(body === undefined ? [] : ["content-type: application/json", "", pretty(JSON.parse(body))])
  ].join("\n")
  showAnswer("waiting", "", "", "")
  const begun = performance.now()
  /** @type {Response} */
  let response
  try {
    response = await fetch(path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" })
      },
      body: body ?? null,
      cache: "no-store",
      signal
    })
  } catch {
    if (!signal.aborted) {
      showAnswer("no answer, the connection broke", "bad", "", "")
      showPages({})
    }
    return void tick()
  }
  const { status, statusText } = response
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n")
  const look = status >= 500 ? "bad" : status >= 400 ? "warn" : "good"
  const { end, text } = await read(response)
  if (signal.aborted) return
  const parsed = end === "" ? parse(text) : undefined
  const millis = Math.round(performance.now() - begun)
  showAnswer(
    `${status} ${statusText}, ${millis} ms${end === "" ? "" : `, ${end}`}`,
    end === "broken" ? "bad" : look,
    headers,
    parsed === undefined ? text : pretty(parsed)
  )
  showPages(parsed?.meta ?? {})
  await tick()
}

/**
 * The text of a body, as much as comes and fits.
 * @param {Response} response
 * @returns {Promise<{ readonly text: string; readonly end: "" | "broken" | "cut after 1 MB" }>}
 */
const read = async (response) => {
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let text = ""
  let size = 0
  try {
    for (;;) {
      const part = await reader?.read()
      if (part === undefined || part.done) return { text, end: "" }
      size += part.value.length
      text += decoder.decode(part.value, { stream: true })
      if (size > longest) {
        await reader?.cancel()
        return { text: text.slice(0, longest), end: "cut after 1 MB" }
      }
    }
  } catch {
    return { text, end: "broken" }
  }
}

/** @param {string} text */
const parse = (text) => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * @param {string} status
 * @param {string} look
 * @param {string} headers
 * @param {string} body
 */
const showAnswer = (status, look, headers, body) => {
  box("response-status").textContent = status
  box("response-status").className = look
  box("response-headers").textContent = headers
  box("response-body").textContent = body
}

/** @param {{ readonly next_token?: unknown; readonly previous_token?: unknown }} meta */
const showPages = (meta) => {
  const pageToken = operation()?.pageToken
  const { activeElement } = document
  for (const [id, token] of [["next-page", meta?.next_token], ["previous-page", meta?.previous_token]]) {
    const element = button(String(id))
    const isThere = pageToken !== undefined && typeof token === "string"
    element.hidden = !isThere
    element.value = isThere ? token : ""
    // A hidden element cannot keep the focus.
    if (!isThere && element === activeElement) button("send-button").focus()
  }
}

/** @param {HTMLButtonElement} page */
const turn = (page) => {
  const field = fields().find(({ name }) => name === operation()?.pageToken)
  if (field === undefined) return
  field.value = page.value
  send()
}

// ---- What is in the service

const collections = [
  "users",
  "posts",
  "follows",
  "blocks",
  "mutes",
  "lists",
  "spaces",
  "conversations",
  "messages"
]

let collection = "users"
/** Where the pages up to the one on show begin. @type {Array<string>} */
let afters = [""]
let beyond = ""
let asked = 0

const count = async () => {
  const { counts } = await call("GET", "/health")
  for (const element of box("collections").children) {
    const name = element.getAttribute("data-collection") ?? ""
    element.textContent = `${name} ${Number(counts[name]).toLocaleString("en")}`
  }
}

const show = async () => {
  const user = input("state-user").value.trim().replace(/^@/, "")
  const query = new URLSearchParams({ limit: "50" })
  const after = afters.at(-1) ?? ""
  if (after !== "") query.set("after", after)
  if (user !== "") query.set("user", user)
  const question = ++asked
  /** @type {Part} */
  const { items, next = "" } = await call("GET", `/state/${collection}?${query}`)
  // Another one was asked meanwhile.
  if (question !== asked) return ""
  beyond = next
  const names = Object.keys(items[0] ?? {})
  box("state-head").replaceChildren(
    make("tr", {}, ...names.map((name) => make("th", { scope: "col" }, name.replaceAll("_", " "))))
  )
  box("state-rows").replaceChildren(
    ...items.map((item) =>
      make(
        "tr",
        {},
        ...names.map((name) => {
          const value = item[name] ?? ""
          const isText = name === "text" || name === "description" || name === "title" || name === "participants"
          return make(
            "td",
            { class: isText ? "text" : undefined },
            value === false ? "" : value === true ? "yes" : `${value}`
          )
        })
      )
    )
  )
  box("state-rows").closest(".scroll")?.scrollTo(0, 0)
  for (const element of box("collections").children) {
    element.setAttribute("aria-pressed", String(element.getAttribute("data-collection") === collection))
  }
  const { activeElement } = document
  button("newer").disabled = afters.length === 1
  button("older").disabled = beyond === ""
  // A disabled element cannot keep the focus.
  if (activeElement instanceof HTMLButtonElement && activeElement.disabled) {
    const table = box("state-rows").closest(".scroll")
    if (table instanceof HTMLElement) table.focus()
  }
  box("state-note").textContent = items.length === 0 ? "Nothing." : `Page ${afters.length}`
  return ""
}

/** @param {string} name */
const choose = (name) => {
  collection = name
  afters = [""]
  act(show)
}

// ---- The service as a whole

const renew = async () => {
  credentials = await call("GET", "/credentials")
  afters = [""]
  await Promise.all([count(), show(), tick()])
}

const download = async () => {
  const url = URL.createObjectURL(await (await ask("GET", "/snapshot")).blob())
  make("a", { href: url, download: "sandbox.sqlite" }).click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
  return "The snapshot is downloaded."
}

const restore = async () => {
  const [file] = input("restore-file").files ?? []
  if (file === undefined) {
    input("restore-file").focus()
    return "Choose a snapshot file first."
  }
  await call("PUT", "/snapshot", file)
  await renew()
  return "The snapshot is restored."
}

const reset = async () => {
  if (!confirm("Begin anew? Everything that was written since the start is lost.")) return ""
  await call("POST", "/reset")
  await renew()
  return "The sandbox has begun anew."
}

// ---- What people do

/**
 * @param {string} id
 * @param {() => void} handle
 */
const onSubmit = (id, handle) =>
  box(id).addEventListener("submit", (event) => {
    event.preventDefault()
    handle()
  })

/**
 * @param {string} id
 * @param {() => Promise<string>} work
 */
const onClick = (id, work) => box(id).addEventListener("click", () => act(work))

onSubmit("gate-form", () => {
  sessionStorage.setItem(kept, input("token").value.trim())
  input("token").value = ""
  box("gate-error").textContent = ""
  open()
})
onSubmit("send-form", () => void send().catch(failed))
onSubmit("fault-form", () => act(addFault))
onSubmit("state-form", () => {
  afters = [""]
  act(async () => {
    await Promise.all([show(), count()])
    return ""
  })
})

select("operation").addEventListener("change", showForm)
select("wire").addEventListener("change", showForm)
for (const id of ["next-page", "previous-page"]) button(id).addEventListener("click", () => turn(button(id)))

input("journal-operation").addEventListener("input", showLines)
select("journal-status").addEventListener("change", showLines)
input("follow").addEventListener("change", tick)
onClick("journal-clear", async () => {
  await call("DELETE", "/journal")
  await tick()
  return "The journal is empty."
})
onClick("budget-clear", async () => {
  await call("DELETE", "/budget")
  await tick()
  return "All limits are full again."
})
onClick("clock-reset", async () => {
  await call("DELETE", "/clock")
  await tick()
  return "The clock goes as at the start."
})
for (const element of document.querySelectorAll("[data-advance]")) {
  element.addEventListener("click", () =>
    act(async () => {
      const advance = element.getAttribute("data-advance")
      await call("POST", "/clock", { advance })
      await tick()
      return `The clock is advanced by ${advance}.`
    }))
}

box("collections").replaceChildren(...collections.map((name) => {
  const element = make("button", { type: "button", "data-collection": name, "aria-pressed": "false" }, name)
  element.addEventListener("click", () => choose(name))
  return element
}))
onClick("older", () => {
  afters.push(beyond)
  return show()
})
onClick("newer", () => {
  afters.pop()
  return show()
})

onClick("snapshot", download)
onClick("restore", restore)
onClick("reset", reset)

select("fault-kind").replaceChildren(...kinds.map(([label], i) => make("option", { value: String(i) }, label)))

document.addEventListener("keydown", ({ key, target }) => {
  const details = key === "Escape" && target instanceof Element ? target.closest("details[open]") : null
  if (details instanceof HTMLDetailsElement) {
    details.open = false
    details.querySelector("summary")?.focus()
  }
})
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && !box("main").hidden) tick()
})
window.addEventListener("hashchange", () => {
  if (takeToken()) open()
})

takeToken()
open()
