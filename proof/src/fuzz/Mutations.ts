/** Small changes of texts and of JSON. */
import type { Random } from "../../../packages/sandbox/test/support/Fuzz.ts"
import type { Domain } from "./Loop.ts"

/** Changes of a text: pieces come and go, are repeated, replaced, or taken of another text. */
export const text = (pieces: ReadonlyArray<string>, longest: number): Domain["mutate"] => (input, random, corpus) => {
  let text = input
  for (let n = 1 + random.below(4); n > 0; n--) {
    const at = random.below(text.length + 1)
    const end = Math.min(text.length, at + 1 + random.below(random.chance(0.8) ? 8 : 80))
    const [before, span, after] = [text.slice(0, at), text.slice(at, end), text.slice(end)]
    text = random.pick([
      () => before + random.pick(pieces) + span + after,
      () => before + random.pick(pieces) + after,
      () => before + after,
      () => before + span.repeat(1 + random.below(5)) + after,
      () => before + String.fromCharCode(random.below(random.pick([128, 256, 65_536]))) + after,
      () => before + random.pick(corpus).slice(random.below(40)),
      () => after + before + span
    ])()
  }
  // A loop within a loop shows with length.
  return random.chance(0.0005)
    ? (text.slice(0, 1 + random.below(12)) || "a").repeat(2_000).slice(0, 20_000)
    : text.slice(0, longest)
}

type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [name: string]: Json }

const isObject = (value: Json): value is { readonly [name: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Replaces one value, anywhere in another. */
const replaceAny = (value: Json, random: Random, by: (value: Json) => Json): Json => {
  if (random.chance(0.25)) return by(value)
  if (Array.isArray(value) && value.length > 0) {
    const items: ReadonlyArray<Json> = value
    const at = random.below(items.length)
    return items.map((item, i) => i === at ? replaceAny(item, random, by) : item)
  }
  if (isObject(value) && Object.keys(value).length > 0) {
    const name = random.pick(Object.keys(value))
    return { ...value, [name]: replaceAny(value[name]!, random, by) }
  }
  return by(value)
}

const changed = (value: Json, random: Random, values: ReadonlyArray<Json>, names: ReadonlyArray<string>): Json => {
  const drawn = () => random.pick(values)
  if (Array.isArray(value)) {
    const items: ReadonlyArray<Json> = value
    return random.pick([
      () => [...items, ...items.slice(0, 2)],
      () => [...items, drawn()],
      () => items.slice(1),
      drawn
    ])()
  }
  if (isObject(value)) {
    const own = Object.keys(value)
    return random.pick<() => Json>([
      () => ({ ...value, [random.pick(names)]: drawn() }),
      () => Object.fromEntries(Object.entries(value).filter(([name]) => name !== own[0])),
      () => Object.fromEntries(Object.entries(value).filter(() => random.chance(0.7))),
      () =>
        Object.fromEntries(Object.entries(value).map(([name, held]) => [name, random.chance(0.2) ? drawn() : held])),
      drawn
    ])()
  }
  return typeof value === "string" && random.chance(0.3)
    ? random.pick([() => `${value}${value}`, () => value.slice(1), () => `${value}é`, () => value.toUpperCase()])()
    : drawn()
}

/** Changes of JSON after a line that says what it is. Few change its characters instead. */
export const json = (values: ReadonlyArray<Json>, names: ReadonlyArray<string>): Domain["mutate"] => {
  const characters = text(["{", "}", "[", "]", ",", ":", "\"", "\\", "\\u0000", "null", "1e999", "-0"], 4_000)
  return (input, random, corpus) => {
    const at = input.indexOf("\n")
    const [head, body] = [input.slice(0, at + 1), input.slice(at + 1)]
    let parsed: Json
    try {
      if (random.chance(0.05)) throw new SyntaxError()
      parsed = JSON.parse(body)
    } catch {
      return head + characters(body, random, [corpus[0]!.slice(corpus[0]!.indexOf("\n") + 1)])
    }
    for (let n = 1 + random.below(3); n > 0; n--) {
      parsed = replaceAny(parsed, random, (value) => changed(value, random, values, names))
    }
    const text = JSON.stringify(parsed)
    return text.length > 8_000 ? input : head + text
  }
}

/** Values that are easily mistaken. */
export const values: ReadonlyArray<Json> = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  "",
  " ",
  "1",
  "-1",
  "a",
  "a,b",
  "é😀",
  "\ud800",
  "\u0000",
  "__proto__",
  "constructor",
  "2026-01-31T12:00:00Z",
  "2026-02-30T00:00:00Z",
  "canary-bearer-token-0001",
  [],
  {},
  [[]],
  [null],
  [1],
  ["1", "1"],
  { id: "1" },
  { text: "a" },
  { type: "about:blank", title: "t", detail: "d", status: 400 }
]
