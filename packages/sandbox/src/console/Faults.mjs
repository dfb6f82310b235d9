// Adds, counts and removes faults.
import { act, onClick, onSubmit } from "./Actions.mjs"
import { call } from "./AdminCalls.mjs"
import { box, fill, input, make, options, select } from "./Elements.mjs"
import * as FaultWords from "./FaultWords.mjs"
import { look, watch } from "./Live.mjs"
import { names } from "./Operations.mjs"

/** @import { Active, Behaviour } from "../faults/Faults.ts" */

/** @type {ReadonlyArray<Behaviour>} */
const kinds = [
  { status: 503, headers: { "retry-after": "1" } },
  { status: 500 },
  { status: 502, body: "html" },
  { status: 429 },
  {},
  { pause: "200 millis" },
  { truncate: true },
  { reset: "before" },
  { reset: "during" },
  { reset: "after" },
  { body: "broken-json" },
  { body: "empty" },
  { body: "huge" },
  { rateLimitHeaders: "missing" },
  { rateLimitHeaders: "absurd" },
  { page: "empty" },
  { page: "short" },
  { page: "repeated-token" },
  { page: "ends-early" },
  { processing: "failed" },
  { processing: "absent" },
  { processing: "no-wait" },
  { processing: "zero-wait" },
  { stream: { kind: "cut", after: 10 } },
  { stream: { kind: "stall", after: 10 } },
  { delivery: "duplicate" },
  { delivery: "out-of-order" },
  { delivery: "bad-signature" },
  { delivery: "lost" }
]

/** @param {ReadonlyArray<Active>} rules */
const showRules = (rules) => {
  box("faults-empty").hidden = rules.length > 0
  box("faults-clear").hidden = rules.length < 2
  fill(box("rules"), rules, {
    key: ({ id }) => String(id),
    create: ({ id, rule }) => {
      const words = FaultWords.ofRule(rule)
      const button = make("button", { type: "button", "aria-label": `Remove fault ${id}: ${words}` }, "Remove")
      button.addEventListener("click", () => void act(button, () => remove(id)))
      return make("li", {}, make("span", { class: "words" }, words), make("span", { class: "hint" }), button)
    },
    update: (element, { met }) => {
      const [, hint] = element.children
      if (hint !== undefined) hint.textContent = met === 0 ? "not triggered yet" : `triggered ${FaultWords.times(met)}`
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
  const kind = kinds[Number(select("fault-kind").value)] ?? {}
  const operation = select("fault-operation").value
  const times = select("fault-times").value
  const seconds = input("fault-delay").valueAsNumber || 0
  if (seconds === 0 && Object.keys(kind).length === 0) {
    input("fault-delay").focus()
    return "Enter the delay."
  }
  const { id } = await call("POST", "/faults", {
    ...kind,
    ...(seconds === 0 ? {} : { delay: Math.round(seconds * 1_000) }),
    ...(operation === "" ? {} : { operation }),
    nth: Number(input("fault-nth").value),
    ...(times.includes(".") ? { probability: Number(times) } : { times: times === "always" ? times : Number(times) })
  })
  await look()
  return `Fault ${id} is added.`
}

/** Lists the operations. */
export const offerOperations = () =>
  select("fault-operation").replaceChildren(
    make("option", { value: "" }, "all"),
    ...options([...names(), "deliverEvent"])
  )

export const start = () => {
  select("fault-kind").replaceChildren(
    ...kinds.map((kind, i) => make("option", { value: String(i) }, FaultWords.ofBehaviour(kind) || "Only the delay"))
  )
  watch("faults", async () => {
    const { faults } = await call("GET", "/faults")
    return () => showRules(faults)
  })
  onClick("faults-clear", async () => {
    await call("DELETE", "/faults")
    await look()
    select("fault-operation").focus()
    return "All faults are removed."
  })
  onSubmit("fault-form", () => void act(box("fault-form"), add))
}
