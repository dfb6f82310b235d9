// Events: deliveries to webhooks with one of them open beside the list, webhooks, subscriptions, and a form that makes an event.
import { act, onSubmit } from "./Actions.mjs"
import { call } from "./AdminCalls.mjs"
import { box, fill, input, isoTime, lookOf, make, options, select, utc } from "./Elements.mjs"
import { fact, formatted, headersOf, linked, text } from "./Exchanges.mjs"
import * as FaultWords from "./FaultWords.mjs"
import * as Lines from "./Lines.mjs"
import { look, watch } from "./Live.mjs"
import { hashOf, onShow } from "./Views.mjs"

/**
 * @import { Overview } from "../admin/AdminEvents.ts"
 * @import { Delivery, Entry } from "../events/DeliveryLog.ts"
 */

/** The maximum number of deliveries on the page. */
const maxLines = 200

let mark = () => {}

/** The status of an answer, or what became of a delivery without one. @param {Delivery} delivery */
const outcomeOf = ({ state, status }) => {
  const tone = state === "skipped" || state === "lost" ? "warn" : state === "failed" ? "bad" : lookOf(status)
  return { tone, words: status === undefined ? (state === "failed" ? "none" : state) : String(status) }
}

/** @param {Delivery} delivery */
const attemptOf = ({ attempt, isReplay }) => isReplay ? "again" : `attempt ${attempt}`

/** @param {Delivery} delivery */
const lineOf = (delivery) => {
  const { at, event, fault, id, millis, url } = delivery
  const { tone, words } = outcomeOf(delivery)
  return make(
    "li",
    {},
    make(
      "a",
      { href: hashOf("events", String(id)) },
      make("span", { class: `status ${tone}` }, words),
      make("strong", { class: "what" }, event),
      " ",
      make("span", { class: "operation mono" }, url),
      make("span", { class: "caller" }, attemptOf(delivery)),
      make("time", { datetime: isoTime(at), title: isoTime(at) }, isoTime(at).slice(11, 19)),
      make("span", { class: "millis" }, `${millis} ms`),
      ...(fault === undefined ? [] : [make("span", { class: "fault" }, `Fault: ${FaultWords.ofBehaviour(fault)}`)])
    )
  )
}

/** @param {Overview["webhooks"][number]} webhook */
const webhookWords = ({ app, checkedAt = "", id, linkedAt, valid }) =>
  [
    valid ? "valid" : "invalid: nothing is delivered",
    `last passed ${utc(Date.parse(checkedAt))}`,
    ...(linkedAt === undefined ? [] : ["linked to the filtered stream"]),
    app,
    id
  ].join(", ")

/** @param {Overview["subscriptions"][number]} subscription */
const subscriptionWords = ({ app, filter, tag, username, webhookId }) =>
  [
    ...(filter.user_id === undefined ? [] : [`@${username ?? filter.user_id}`]),
    ...(filter.keyword === undefined ? [] : [`keyword ${filter.keyword}`]),
    ...(filter.direction === undefined ? [] : [filter.direction]),
    ...(tag === undefined ? [] : [`tag ${tag}`]),
    webhookId === undefined ? "stream only" : `webhook ${webhookId}`,
    app
  ].join(", ")

/** @param {Overview} overview @param {ReadonlyArray<Delivery>} deliveries */
const showAll = ({ eventTypes, subscriptions, webhooks }, deliveries) => {
  if (select("trigger-type").options.length === 0) select("trigger-type").replaceChildren(...options(eventTypes))
  box("deliveries-empty").hidden = deliveries.length > 0
  fill(box("deliveries"), deliveries.toReversed(), { key: ({ id }) => String(id), create: lineOf })
  mark()
  fill(box("webhooks"), webhooks, {
    key: ({ id }) => id,
    create: ({ url }) => make("li", {}, make("code", {}, url), " ", make("span", { class: "hint" })),
    update: (element, webhook) => {
      const [, hint] = element.children
      if (hint !== undefined) hint.textContent = webhookWords(webhook)
    }
  })
  fill(box("subscriptions"), subscriptions, {
    key: ({ id }) => id,
    create: ({ eventType }) => make("li", {}, make("strong", {}, eventType), " ", make("span", { class: "hint" })),
    update: (element, subscription) => {
      const [, hint] = element.children
      if (hint !== undefined) hint.textContent = subscriptionWords(subscription)
    }
  })
}

/** @param {Entry} entry */
const factsOf = (entry) => {
  const { at, eventId, fault, isSigned, millis, reason, retryAt, state, url } = entry
  const { tone, words } = outcomeOf(entry)
  return make(
    "dl",
    { class: "facts" },
    fact("Status", make("span", { class: `status ${tone}` }, words), ` ${state}`),
    ...(reason === undefined ? [] : [fact("Reason", reason)]),
    fact("Time", make("time", {}, utc(at))),
    fact("Duration", `${millis} ms`),
    fact("Attempt", attemptOf(entry)),
    fact("Webhook", url),
    ...(eventId === undefined ? [] : [fact("Event", eventId)]),
    ...(state === "skipped" || state === "lost" || eventId === undefined
      ? []
      : [fact("Signature", isSigned ? "valid" : "of another secret")]),
    ...(retryAt === undefined ? [] : [fact("Sent again", make("time", {}, utc(retryAt)))]),
    ...(fault === undefined ? [] : [fact("Fault", FaultWords.ofBehaviour(fault))])
  )
}

/** @param {number} id */
const resend = async (id) => {
  await call("POST", `/deliveries/${id}`)
  await look()
  return "It is resent."
}

/** @param {Entry} entry */
const parts = (entry) => {
  const { answer, body, event, eventId, headers, id } = entry
  const again = make("button", { type: "button", id: "resend" }, "Resend")
  again.addEventListener("click", () => void act(again, () => resend(id)))
  return [
    make(
      "div",
      { class: "heading" },
      make("h3", { id: "delivery-title", class: "mono", tabindex: "-1" }, event),
      make("a", { href: "#events", class: "button", id: "delivery-close", "aria-label": "Close the delivery" }, "Close")
    ),
    factsOf(entry),
    ...(eventId === undefined
      ? []
      : [make("div", { class: "row" }, again), make("p", { class: "outcome", role: "status" })]),
    make("h4", {}, "Request"),
    headersOf("Request headers", headers),
    ...(body === undefined ? [] : [text("Request body", linked(formatted(body)))]),
    make("h4", {}, "Answer"),
    answer === undefined || answer === ""
      ? make("p", { class: "hint" }, answer === "" ? "The body is empty." : "There is none.")
      : text("Answer", [answer])
  ]
}

let asked = 0

/** @param {string | undefined} id */
const showOne = async (id) => {
  const question = ++asked
  const panel = box("delivery")
  box("deliveries-log").classList.toggle("opened", id !== undefined)
  panel.hidden = id === undefined
  if (id === undefined) return panel.replaceChildren()
  const entry = await call("GET", `/deliveries/${encodeURIComponent(id)}`).catch(() => undefined)
  if (question !== asked) return
  panel.replaceChildren(
    ...(entry === undefined
      ? [
        make("p", { class: "hint" }, "This delivery is no longer kept. "),
        make("a", { href: "#events" }, "All deliveries")
      ]
      : parts(entry))
  )
  panel.scrollTo(0, 0)
  // On narrow screens the entry takes the place of the list, which has the focus.
  if (box("deliveries").parentElement?.offsetParent === null) panel.querySelector("h3")?.focus()
}

const trigger = async () => {
  const user = input("trigger-user").value.trim().replace(/^@/, "")
  const words = input("trigger-text").value.trim()
  const found = user === "" ? undefined : (await call("GET", `/state/users?user=${encodeURIComponent(user)}`)).items[0]
  if (user !== "" && found === undefined) {
    input("trigger-user").focus()
    return `There is no user ${user}.`
  }
  const { subscriptions } = await call("POST", "/trigger", {
    event_type: select("trigger-type").value,
    ...(found === undefined ? {} : { user_id: found.id }),
    ...(words === "" ? {} : { set: { text: words } })
  })
  await look()
  return subscriptions === 0
    ? "It happened, but no subscription is to it."
    : subscriptions === 1
    ? "It happened: one subscription has it."
    : `It happened: ${subscriptions} subscriptions have it.`
}

export const start = () => {
  onShow(({ steps: [id], view }) => void (view === "events" && showOne(id)))
  mark = Lines.navigate("events", "deliveries")
  watch("events", async () => {
    const [overview, { deliveries }] = await Promise.all([
      call("GET", "/events"),
      call("GET", `/deliveries?limit=${maxLines}`)
    ])
    return () => showAll(overview, deliveries)
  })
  onSubmit("trigger-form", () => void act(box("trigger-form"), trigger))
}
