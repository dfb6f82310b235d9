// The faults that requests meet: added, counted, removed.
import { act, onSubmit } from "./Actions.mjs"
import { call } from "./AdminCalls.mjs"
import { box, fill, input, make, select } from "./Elements.mjs"
import { look, watch } from "./Live.mjs"
import { operations } from "./Operations.mjs"

/** @import { Active, Rule } from "../Faults.ts" */

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
  fill(box("rules"), rules, {
    key: ({ id }) => String(id),
    create: ({ id }) => {
      const button = make("button", { type: "button", "aria-label": `Remove fault ${id}` }, "Remove")
      button.addEventListener("click", () => void act(button, () => remove(id)))
      return make("li", {}, make("code"), make("span", { class: "hint" }), button)
    },
    update: (element, { met, rule }) => {
      const [code, hint] = element.children
      const text = JSON.stringify(rule)
      if (code !== undefined && code.textContent !== text) code.textContent = text
      if (hint !== undefined) hint.textContent = `met ${met} times`
    }
  })
}

/** @param {number} id */
const remove = async (id) => {
  await call("DELETE", `/faults/${id}`)
  await look()
  select("fault-operation").focus()
  return `Fault ${id} is removed.`
}

const add = async () => {
  const [, behaviour] = kinds[Number(select("fault-kind").value)] ?? []
  const operation = select("fault-operation").value
  const times = select("fault-times").value
  const { id } = await call("POST", "/faults", {
    ...behaviour,
    ...(operation === "" ? {} : { operation }),
    nth: Number(input("fault-nth").value),
    ...(times.includes(".") ? { probability: Number(times) } : { times: times === "always" ? times : Number(times) })
  })
  await look()
  return `Fault ${id} is added.`
}

/** Offers the operations that there are. */
export const offerOperations = () =>
  select("fault-operation").replaceChildren(
    make("option", { value: "" }, "all"),
    ...operations.map((operation) => make("option", { value: operation.name }, operation.name))
  )

export const start = () => {
  select("fault-kind").replaceChildren(...kinds.map(([label], i) => make("option", { value: String(i) }, label)))
  watch(async () => {
    const { faults } = await call("GET", "/faults")
    return () => showRules(faults)
  })
  onSubmit("fault-form", () => void act(box("fault-form"), add))
}
