/** `postwire plan OPERATION`: estimates the cost of an export. */
import type { Definition } from "@postwire/core/schema/Definition"
import * as Prices from "@postwire/core/spend/Prices"
import type * as EachPlan from "@postwire/export/sources/EachPlan"
import * as Plan from "@postwire/export/sources/Plan"
import * as Source from "@postwire/export/sources/Source"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Connection from "../connection/Connection.ts"
import * as Spending from "../connection/Spending.ts"
import * as EachFlags from "../exporting/EachFlags.ts"
import * as Sample from "../exporting/Sample.ts"
import * as OperationFlags from "../flags/OperationFlags.ts"
import * as Args from "../terminal/Args.ts"
import * as Report from "../terminal/Report.ts"
import * as Text from "../terminal/Text.ts"
import { lines } from "./Lines.ts"

const own = {
  postCap: Args.int("post-cap", 1).pipe(Args.optional("Posts that the project may read in a month")),
  requests: Args.int("requests-per-window", 1).pipe(
    Args.optional("Requests that the operation allows in 15 minutes (default: as the service announces)")
  ),
  json: Report.json,
  ...Spending.flags,
  ...Connection.flags
}

/** `postwire plan`, with a command for each operation that pages. */
export const command = Command.make("plan").pipe(
  Command.withSubcommands(OperationFlags.paged.map((definition) =>
    OperationFlags.named(
      definition,
      Command.make(
        definition.name,
        {
          own: { ...own, ...EachFlags.replaced(definition).length > 0 ? EachFlags.flags : {} },
          parameters: OperationFlags.make(definition, {
            without: OperationFlags.pageToken(definition),
            replaced: EachFlags.replaced(definition),
            defaults: Source.fromDefinition(definition, {}).parameters
          })
        },
        ({ own, parameters }) => run(definition, OperationFlags.parametersOf(parameters), { ...EachFlags.none, ...own })
      )
    )
  )),
  Args.help(
    "Estimate what an export costs: posts, requests, dollars, time, share of the post cap. Where expansions make the price " +
      "uncertain, it reads a page as a sample, which is charged; --max-spend limits that.",
    lines.plan
  )
)

type Flags = Command.Command.Config.Infer<typeof own> & EachFlags.Flags

const run = Effect.fnUntraced(
  function*(definition: Definition, parameters: Readonly<Record<string, unknown>>, flags: Flags) {
    const each = yield* EachFlags.open(definition, parameters, flags)
    if (each !== undefined) return yield* planEach(each, flags)
    const source = Source.fromDefinition(definition, parameters)
    const { estimate, sample } = yield* Effect.gen(function*() {
      const requests = Option.getOrUndefined(flags.requests)
      const estimate = yield* Plan.estimate(source, { requests, probe: true })
      return { estimate, sample: Option.getOrUndefined(yield* Sample.take(source, estimate, flags)) }
    }).pipe(Connection.provide(flags))
    const cap = Option.getOrUndefined(flags.postCap)
    const { buckets, ...rest } = estimate
    const micros = Spending.mostOf(definition, source.parameters, estimate)
    const isUnknown = Spending.isUnknown(definition)
    const share = cap && estimate.capped ? estimate.items / cap : undefined
    yield* Report.print(
      flags.json,
      {
        ...rest,
        ...Spending.plain({ ...estimate, micros, isUnknown }),
        dollarsExpected: sample && Math.round(sample.expected / 10_000) / 100,
        sample: sample && { items: sample.items, dollars: Prices.dollarsOf(sample.micros) },
        postCapShare: share === undefined ? undefined : Number(share.toFixed(6))
      },
      () => linesOf(estimate, { buckets, cap, price: { micros, isUnknown }, sample })
    )
  },
  Effect.scoped
)

/** Plans an operation for each row of a file. The cost of counting is shown and confirmed first. */
const planEach = Effect.fnUntraced(function*(job: EachPlan.Job, flags: Flags) {
  const estimate = yield* EachFlags.estimate(job, flags, true).pipe(Connection.provide(flags))
  const price = { micros: EachFlags.mostOf(job, estimate), isUnknown: Spending.isUnknown(job.definition) }
  const { duration, isBound, items, limits, of, operation, requests, rows } = estimate
  yield* Report.print(
    flags.json,
    { ...estimate, ...Spending.plain({ ...estimate, ...price }) },
    () => [
      operation,
      `  rows      ${Text.count(rows)}`,
      `  ${of.padEnd(8)}  ${Text.count(items)}${isBound ? " at most" : ""}`,
      `  requests  ${Text.count(requests)}${isBound ? " at most" : " or a few more"}`,
      priced(price),
      limited(limits),
      ...isBound ? [] : [timed(duration)]
    ]
  )
})

const priced = ({ isUnknown, micros }: Amount, expected?: number): string =>
  `  price     ${expected === undefined ? "" : `about ${Text.roundDollars(expected)}, `}${
    isUnknown ? "unknown" : micros === 0 ? "free" : `${Text.dollars(micros)} or less`
  }, by the prices of ${Prices.current.since}`

interface Amount {
  readonly micros: number
  readonly isUnknown: boolean
}

const sampled = ({ items, micros }: Sample.Sample, of: string): string =>
  `  sample    ${Text.quantity(items, of)} for ${Text.dollars(micros)}, which are not charged again today (UTC)`

const limited = (limits: Plan.Limits): string =>
  `  limit     ${Text.count(limits.requests)} requests in 15 min${
    limits.pace === undefined ? "" : `, ${limits.pace / 1000} s apart`
  }, ${because[limits.from]}`

/** The waits for the rate limit, which are the least that it takes. */
const timed = (duration: number): string =>
  `  time      ${duration < 1_000 ? "no wait for the limit" : `${Text.duration(duration / 1000)} or more`}`

const because: Readonly<Record<Plan.Limits["from"], string>> = {
  announced: "as the service announces",
  usual: "the usual one: the service announced none",
  given: "as given"
}

const linesOf = (
  { capped, duration, items, limits, of, operation, pageSize, requests }: Plan.Estimate,
  { buckets, cap, price, sample }: Pick<Plan.Estimate, "buckets"> & {
    readonly cap: number | undefined
    readonly price: Amount
    readonly sample: Sample.Sample | undefined
  }
): ReadonlyArray<string> => [
  operation,
  ...buckets.length === 0
    ? []
    : [`  span      ${Text.minute(buckets.at(-1)?.start ?? "")} to ${Text.minute(buckets[0]?.end ?? "")}`],
  `  ${of.padEnd(8)}  ${Text.count(items)}`,
  `  requests  ${Text.count(requests)} or a few more, of up to ${pageSize} ${of}`,
  priced(price, sample?.expected),
  ...sample === undefined ? [] : [sampled(sample, of)],
  limited(limits),
  timed(duration),
  ...capped
    ? [
      `  post cap  ${
        cap === undefined
          ? "counts towards it (--post-cap shows the share)"
          : `${share(items / cap)} of ${Text.count(cap)} per month`
      }`
    ]
    : []
]

const share = (part: number): string => part > 0 && part < 0.001 ? "less than 0.1 %" : `${(100 * part).toFixed(1)} %`
