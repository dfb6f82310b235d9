// Streams: connections, rules and matching posts.
import { act } from "./Actions.mjs"
import { call } from "./AdminCalls.mjs"
import { box, fill, make, span } from "./Elements.mjs"
import { look, onCall, watch } from "./Live.mjs"

/** @import { Overview } from "../admin/AdminStreams.ts" */

/** @param {Overview["connections"][number]} connection */
const connectionWords = ({ closedAt, openedAt, partition, reason, sent }, /** @type {number} */ now) => {
  const since = Date.parse(openedAt ?? "")
  const until = closedAt === undefined ? now : Date.parse(closedAt)
  return [
    ...(partition === undefined ? [] : [`part ${partition}`]),
    `${sent.toLocaleString("en")} sent`,
    `${closedAt === undefined ? "open for" : "was open for"} ${span(Math.max(0, until - since))}`,
    ...(reason === undefined ? [] : [reason.replaceAll("_", " ")])
  ].join(", ")
}

/** @param {Overview} overview @param {number} now */
const show = ({ connections, load, matches, rules }, now) => {
  const open = connections.filter(({ closedAt }) => closedAt === undefined).length
  box("streams-sum").textContent = [
    `${open} open`,
    `${rules.length.toLocaleString("en")} ${rules.length === 1 ? "rule" : "rules"}`,
    ...(load === null ? [] : [
      `load: ${load.made.toLocaleString("en")} posts${
        load.isOver ? "" : `, ${load.perSecond.toLocaleString("en")} a second`
      }`
    ])
  ].join("; ")
  fill(box("stream-connections"), connections, {
    key: ({ id }) => id,
    create: ({ closedAt, endpoint, id }) => {
      const end = make("button", { type: "button", "aria-label": `End ${endpoint}` }, "End")
      end.hidden = closedAt !== undefined
      end.addEventListener("click", () =>
        void act(end, async () => {
          await call("DELETE", `/streams/${id}`)
          await look()
          return `A connection of ${endpoint} is ended.`
        }))
      return make("li", {}, make("strong", {}, endpoint), " ", make("span", { class: "hint" }), " ", end)
    },
    update: (element, connection) => {
      const [, words, end] = element.children
      if (words !== undefined) words.textContent = connectionWords(connection, now)
      if (end instanceof HTMLButtonElement) end.hidden = connection.closedAt !== undefined
    }
  })
  fill(box("stream-rules"), rules, {
    key: ({ id }) => id,
    create: ({ name, tag, value }) =>
      make(
        "li",
        {},
        make("code", {}, value),
        " ",
        make("span", { class: "hint" }, [tag ?? "", name].filter(Boolean).join(", "))
      ),
    update: () => {}
  })
  /** @type {Map<string, string>} */
  const names = new Map(rules.map(({ id, tag, value }) => [id, tag ?? value]))
  fill(box("stream-matches"), matches, {
    key: ({ postId }) => postId,
    create: ({ rules, text }) =>
      make(
        "li",
        {},
        make("span", {}, text.slice(0, 280)),
        " ",
        make("span", { class: "hint" }, rules.map((id) => names.get(id) ?? id).join(", "))
      ),
    update: () => {}
  })
}

export const start = () => {
  watch("streams", async () => {
    const overview = await call("GET", "/streams")
    return (now) => show(overview, now)
  })
  onCall("load-start", "Creating ten posts per second.", "POST", "/load", { perSecond: 10 })
  onCall("load-stop", "The load is stopped.", "DELETE", "/load")
}
