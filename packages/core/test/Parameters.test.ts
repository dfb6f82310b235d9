import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, DateTime, Schema } from "effect"
import * as Parameters from "../src/schema/Parameters.ts"

const refused = Symbol("refused")

const form = (parameter: Parameters.AnyParameter, value: unknown) => {
  const result = Schema.encodeUnknownResult(parameter.schema)(value)
  return result._tag === "Success" ? result.success as Parameters.EncodedValue : refused
}

/** Form and bounds, as the client checks them. */
const encode = (parameter: Parameters.AnyParameter, value: unknown, access?: Parameters.AccessLevel) => {
  const wire = form(parameter, value)
  return wire !== refused && Parameters.isWithinBounds(parameter, wire, access) ? wire : refused
}

const cases = (
  title: string,
  parameter: Parameters.AnyParameter,
  { accepted, rejected }: {
    readonly accepted: ReadonlyArray<readonly [given: unknown, sent: unknown]>
    readonly rejected: ReadonlyArray<unknown>
  }
) =>
  describe(title, () => {
    it("accepts", () => {
      for (const [given, sent] of accepted) assert.deepStrictEqual(encode(parameter, given), sent, String(given))
    })
    it("refuses", () => {
      for (const given of [...rejected, null, Symbol("s"), () => "1", {}]) {
        assert.strictEqual(encode(parameter, given), refused, String(given))
      }
    })
  })

const badIds = [
  "",
  " ",
  "..",
  "../me",
  "%2e%2e",
  "a/b?x",
  "1\r\nX",
  "1\n",
  " 1",
  "+1",
  "0x1",
  "1e3",
  "é",
  "١",
  "12345678901234567890",
  -1,
  1.5,
  NaN,
  Infinity,
  2 ** 53,
  2 ** 53 + 2,
  1e21,
  -1n,
  10n ** 19n,
  true,
  ["1"],
  new String("1")
]

cases("id", Parameters.id, {
  accepted: [
    ["1460323737035677698", "1460323737035677698"],
    ["00012", "00012"],
    ["9999999999999999999", "9999999999999999999"],
    [9007199254740991, "9007199254740991"],
    [0, "0"],
    [-0, "0"],
    [0n, "0"],
    [1460323737035677698n, "1460323737035677698"],
    [9999999999999999999n, "9999999999999999999"]
  ],
  rejected: badIds
})

cases("segment", Parameters.segment, {
  accepted: [["12-34", "12-34"], ["1DXxyRYNejbKM", "1DXxyRYNejbKM"], ["a_b", "a_b"]],
  rejected: ["", ".", "..", "a.b", "a/b", "a b", "é", "1\n", "%2e", "a".repeat(65), 1]
})

cases("username", Parameters.username, {
  accepted: [["ada", "ada"], ["A_1", "A_1"], ["a".repeat(15), "a".repeat(15)]],
  rejected: ["", "@ada", "a".repeat(16), "a-b", "a b", "a/b", "..", "ada\n", "é", 1]
})

cases("ids", Parameters.ids(3), {
  accepted: [[["1", 2, 3n], "1,2,3"], ["1,2,3", "1,2,3"], ["1", "1"]],
  rejected: [
    [],
    "",
    ",",
    "1,",
    "1, 2",
    "1,,2",
    "1,2,3,4",
    ["1", "2", "3", "4"],
    ["1,2"],
    [""],
    ["1", "../me"],
    [2 ** 53],
    [-1n],
    1,
    [undefined],
    Object.assign(["1"], { 2: "2" }),
    [["1"]]
  ]
})

cases("idArray", Parameters.idArray(2), {
  accepted: [[["1", 2n], ["1", "2"]], [[0], ["0"]]],
  rejected: [[], "1,2", ["1", "2", "3"], ["x"], [1.5], [null], 1]
})

cases("idArray that may be empty", Parameters.idArray(2, 0), {
  accepted: [[[], []], [["1", 2n], ["1", "2"]]],
  rejected: ["", "1,2", ["1", "2", "3"], ["x"]]
})

cases("textArray", Parameters.textArray({ minimum: 2, maximum: 3, each: 2 }), {
  accepted: [[["a", "b"], ["a", "b"]], [["a,", "😀😀", " "], ["a,", "😀😀", " "]]],
  rejected: [[], ["a"], ["a", "b", "c", "d"], ["a", ""], ["a", "abc"], ["a", "😀😀😀"], "a,b", [1, 2], [null, "a"]]
})

cases("list", Parameters.list(["known"]), {
  accepted: [[["known", { unlisted: "new_one" }], "known,\u0000new_one"], ["a.b,c", "a.b,c"]],
  rejected: [["a b"], "a, b", ["a,b"], ["a\nb"], [""], [1], "a,", ["x".repeat(101)], 1]
})

cases("text of at most 3 characters", Parameters.text(3), {
  accepted: [["abc", "abc"], ["😀😀😀", "😀😀😀"], [" ", " "], ["\u0000", "\u0000"]],
  rejected: ["", "abcd", "😀😀😀😀", 1, ["a"]]
})

cases("text", Parameters.text(), {
  accepted: [["", ""], ["a\r\nb", "a\r\nb"], ["x".repeat(100_000), "x".repeat(100_000)]],
  rejected: [1, true, ["a"]]
})

cases("token", Parameters.token, {
  accepted: [["7140dibdnow9c7btw3w29n4ut", "7140dibdnow9c7btw3w29n4ut"], ["a b/%", "a b/%"]],
  rejected: ["", 1]
})

cases("integer", Parameters.integer({ minimum: 5, maximum: 100 }), {
  accepted: [[5, 5], [100, 100], [50, 50]],
  rejected: [4, 101, 5.5, "50", NaN, Infinity, 50n, true]
})

cases("boolean", Parameters.boolean, { accepted: [[true, true], [false, false]], rejected: [0, 1, "true", ""] })

cases("choice", Parameters.choice(["minute", "hour"]), {
  accepted: [["hour", "hour"]],
  rejected: ["week", "", "HOUR", "__proto__", "toString"]
})

cases("openChoice", Parameters.openChoice(["following"]), {
  accepted: [["following", "following"], ["subscribers", "subscribers"]],
  rejected: ["", "a b", "a,b", 1]
})

cases("timestamp", Parameters.timestamp, {
  accepted: [
    ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z"],
    ["2026-01-31T12:00:00.999999Z", "2026-01-31T12:00:00Z"],
    ["2026-01-31T12:00:00+02:30", "2026-01-31T09:30:00Z"],
    ["2026-01-31t12:00:00z", "2026-01-31T12:00:00Z"],
    ["2024-02-29T23:59:59Z", "2024-02-29T23:59:59Z"],
    ["1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59Z"],
    [new Date("2026-01-31T12:00:00.999Z"), "2026-01-31T12:00:00Z"],
    [DateTime.makeUnsafe("2026-01-31T12:00:00.999Z"), "2026-01-31T12:00:00Z"],
    [DateTime.makeZonedUnsafe("2026-01-31T12:00:00Z", { timeZone: "Asia/Tokyo" }), "2026-01-31T12:00:00Z"]
  ],
  rejected: [
    "",
    "now",
    "2026-01-31",
    "2026-01-31 12:00:00Z",
    "2026-01-31T12:00:00",
    "2026-01-31T12:00Z",
    "31 Jan 2026",
    "2026-02-29T00:00:00Z",
    "2026-02-30T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2026-01-32T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-01-31T24:00:00Z",
    "2026-01-31T12:60:00Z",
    "2026-01-31T12:00:60Z",
    "2026-01-31T12:00:00+99:99",
    "+012026-01-31T12:00:00Z",
    "2026-01-31T12:00:00Z\n",
    "0000-01-01T00:00:00+01:00",
    new Date(NaN),
    new Date(8.64e15),
    1769860800000,
    0n
  ]
})

cases("notBefore", Parameters.notBefore("2010-11-06T00:00:00Z"), {
  accepted: [["2010-11-06T00:00:00Z", "2010-11-06T00:00:00Z"], ["2010-11-06T01:00:00+01:00", "2010-11-06T00:00:00Z"]],
  rejected: ["2010-11-05T23:59:59Z", "2010-11-06T00:00:00+01:00", "0100-01-01T00:00:00Z", "x"]
})

describe("timestamp", () => {
  it.prop("truncates any instant to its second", {
    millis: Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: -62135596800000, maximum: 253402300799999 })))
  }, ({ millis }) => {
    const sent = encode(Parameters.timestamp, new Date(millis))
    assert.match(String(sent), /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/)
    assert.strictEqual(Date.parse(String(sent)), Math.floor(millis / 1000) * 1000)
    assert.strictEqual(encode(Parameters.timestamp, new Date(millis).toISOString()), sent)
  })
})

describe("fromText", () => {
  it.prop("undoes toText", { id: Schema.BigInt, n: Schema.Int, b: Schema.Boolean }, ({ b, id, n }) => {
    const back = (parameter: Parameters.AnyParameter, wire: Parameters.EncodedValue) =>
      Parameters.fromText(parameter, Parameters.toText(wire))
    assert.strictEqual(back(Parameters.id, String(id)), String(id))
    assert.strictEqual(back(Parameters.boolean, b), b)
    if (Math.abs(n) < 1e15) assert.strictEqual(back(Parameters.integer(), n), n === 0 ? 0 : n)
  })

  it("leaves what is no number or boolean as text, to be refused by its schema", () => {
    for (const text of ["", "1e3", "0x10", "1.5", "--1", "9".repeat(16), "TRUE"]) {
      assert.strictEqual(Parameters.fromText(Parameters.integer(), text), text)
      assert.strictEqual(Parameters.fromText(Parameters.boolean, text), text)
    }
  })
})

describe("describe", () => {
  it("says the form and the bounds", () => {
    const { describe } = Parameters
    assert.strictEqual(
      describe(Parameters.integer({ minimum: 10, maximum: 500 })),
      "must be a whole number from 10 to 500"
    )
    assert.strictEqual(describe(Parameters.integer()), "must be a whole number")
    assert.match(describe(Parameters.ids(100)), /commas and no spaces, 1 to 100 items$/)
    assert.match(describe(Parameters.idArray(50)), /, 1 to 50 items$/)
    assert.strictEqual(describe(Parameters.text(1024)), "must be text, 1 to 1024 characters")
    assert.strictEqual(describe(Parameters.recentQuery), "must be text, 1 to 1024 characters")
    assert.strictEqual(describe(Parameters.recentQuery, "standard"), "must be text, 1 to 512 characters")
    assert.match(describe(Parameters.notBefore("2010-11-06T00:00:00Z")), /, not before 2010-11-06T00:00:00Z$/)
    assert.include(describe(Parameters.choice(["minute", "hour"])), "minute, hour")
  })
})

describe("isWithinBounds", () => {
  it("is apart from the form, so that the service can be left to judge", () => {
    const beyond: ReadonlyArray<readonly [Parameters.AnyParameter, unknown]> = [
      [Parameters.integer({ minimum: 5, maximum: 100 }), 101],
      [Parameters.text(3), "abcd"],
      [Parameters.text(3), ""],
      [Parameters.ids(1), ["1", "2"]],
      [Parameters.segments(1), "a,b"],
      [Parameters.usernames(1), "a,b"],
      [Parameters.idArray(1), ["1", "2"]],
      [Parameters.notBefore("2010-11-06T00:00:00Z"), "2010-11-05T23:59:59Z"]
    ]
    for (const [parameter, value] of beyond) {
      const wire = form(parameter, value)
      assert.notStrictEqual(wire, refused)
      assert.isFalse(Parameters.isWithinBounds(parameter, wire as Parameters.EncodedValue))
    }
  })

  it("is narrower for a project with standard access, where that matters", () => {
    const { recentQuery } = Parameters
    for (const size of [1, 512]) assert.notStrictEqual(encode(recentQuery, "x".repeat(size), "standard"), refused)
    assert.strictEqual(encode(recentQuery, "x".repeat(513), "standard"), refused)
    assert.notStrictEqual(encode(recentQuery, "x".repeat(1024), "research"), refused)
    assert.strictEqual(encode(recentQuery, "x".repeat(1025), "research"), refused)
    assert.notStrictEqual(encode(Parameters.text(1024), "x".repeat(1024), "standard"), refused)
  })
})
