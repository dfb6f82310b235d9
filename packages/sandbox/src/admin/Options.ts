/** The options of a sandbox and their validation. */
import type { WireName } from "@postwire/core/schema/WireName"
import * as Duration from "effect/Duration"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { isIP } from "node:net"
import * as ServiceClock from "../http/ServiceClock.ts"
import * as Bill from "../limits/Bill.ts"
import * as Plan from "../limits/Plan.ts"
import * as Seed from "../seed/Seed.ts"

/** The initial contents of a sandbox. */
export interface Population {
  /** The number that determines all data. Default 1. */
  readonly seed?: number | undefined
  /** The initial number of posts: an integer from 0 to 10,000,000. Default 1,000. */
  readonly posts?: number | undefined
  /** The initial time of the service's clock. Default: the current time. */
  readonly start?: Date | number | undefined
}

/** The options of a sandbox. */
export interface Options extends Population {
  /** The file of the state; an existing one is used. Default: in memory. */
  readonly file?: string | undefined
  /**
   * The only accepted wire, like a service of one date: requests in others are refused with 400 or 404. Default: all, each
   * response in the field names of its request, or `neutral` if the request does not determine one.
   */
  readonly wire?: WireName | undefined
  /** The number of posts that a project may read per month with the operations that count. Default 10,000,000. */
  readonly postCap?: number | undefined
  /**
   * The dollars that each app may spend in a billing cycle, a calendar month (UTC). The request that exceeds it is
   * answered; later ones are refused with 403 until the next cycle. Default: no limit.
   */
  readonly spendCap?: number | undefined
  /**
   * The plan of all apps. `self-serve` has the rules that the service documents for pay-per-use: replies only to authors who have
   * summoned the user, no quotes, and no operations of Enterprise plans. Default: `enterprise`.
   */
  readonly plan?: Plan.Plan | undefined
  /** The number of connections an app may have to a stream, or to each partition of one: from 1 (default) to 1,000. */
  readonly streamConnections?: number | undefined
  /** The number of rules an app may have for the filtered stream: from 1 to 25,000. Default 1,000. */
  readonly streamRules?: number | undefined
  /** The share of requests with a random fault, from 0 (default) to 1; the seed determines which. */
  readonly faults?: number | undefined
  /** The bearer token of `/_sandbox`. Default: a random one. */
  readonly adminToken?: Redacted.Redacted | undefined
}

/** The options of a sandbox on a port. */
export interface ServerOptions extends Options {
  /** Default 0: any free port. */
  readonly port?: number | undefined
  /**
   * The IP address on which it listens. Default: `127.0.0.1`, for programs of this machine. With any other, such as `0.0.0.0` in
   * a container, each machine of the network can send requests, which must name an IP address, a name without a dot, or one
   * under `.internal`: no web page can.
   */
  readonly host?: string | undefined
  /**
   * The time in which a request must arrive, including its body. Later ones receive 408, and the connection is closed.
   * Default: 30 seconds.
   */
  readonly requestTimeout?: Duration.Input | undefined
}

/** An option of the sandbox is invalid. It was not started. */
export class InvalidOption extends Schema.TaggedError<InvalidOption>("@postwire/sandbox/Sandbox/InvalidOption")(
  "InvalidOption",
  {
    option: Schema.String,
    /** The rule that valid values follow. */
    rule: Schema.String
  }
) {
  override get message() {
    return `${this.option} ${this.rule}`
  }
}

/** The first invalid option. */
export const invalid = (options: ServerOptions): InvalidOption | undefined => {
  const {
    faults = 0,
    host = "::1",
    plan = Plan.plans[0],
    port = 0,
    postCap = 0,
    posts = 0,
    requestTimeout = 1,
    spendCap = 0,
    start,
    streamConnections = 1,
    streamRules = 1
  } = options
  const rules: ReadonlyArray<readonly [option: keyof ServerOptions, isKept: boolean, rule: string]> = [
    ["posts", Seed.isSize(posts), Seed.size],
    ["start", start === undefined || ServiceClock.isInstant(Number(start)), "from 1990 to 2248"],
    ["faults", faults >= 0 && faults <= 1, "from 0 to 1"],
    ["postCap", postCap >= 0, "a non-negative number"],
    ["spendCap", Bill.isCap(spendCap), "a non-negative amount of dollars"],
    ["plan", Plan.plans.includes(plan), Plan.plans.join(" or ")],
    ["streamConnections", isCount(streamConnections, 1_000), "a whole number from 1 to 1000"],
    ["streamRules", isCount(streamRules, 25_000), "a whole number from 1 to 25000"],
    ["port", Number.isInteger(port) && port >= 0 && port <= 65_535, "a whole number from 0 to 65535"],
    ["host", isIP(host) !== 0, "an IP address"],
    ["requestTimeout", isBetween(requestTimeout, 1, 2 ** 31 - 1), "from 1 millisecond to 24 days"]
  ]
  const broken = rules.find(([, isKept]) => !isKept)
  return broken && new InvalidOption({ option: broken[0], rule: `must be ${broken[2]}` })
}

const isCount = (count: number, most: number): boolean => Number.isInteger(count) && count >= 1 && count <= most

const isBetween = (duration: Duration.Input, least: number, most: number): boolean => {
  const millis = Duration.toMillis(duration)
  return millis >= least && millis <= most
}
