/** The settings of a sandbox, and the rules that they keep. */
import type { WireName } from "@postwire/core/schema/WireName"
import * as Duration from "effect/Duration"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as ServiceClock from "../http/ServiceClock.ts"
import * as Bill from "../limits/Bill.ts"
import * as Seed from "../seed/Seed.ts"

/** What a sandbox is populated with. */
export interface Population {
  /** The number that decides all data. Default 1. */
  readonly seed?: number | undefined
  /** How many posts there are at the start: a whole number from 0 to 1,000,000. Default 1,000. */
  readonly posts?: number | undefined
  /** Where the clock of the service begins. Default: the clock of the program. */
  readonly start?: Date | number | undefined
}

/** Settings of a sandbox. */
export interface Options extends Population {
  /** Where the state is kept; in memory when left out. A file that holds a state already is used as it is. */
  readonly file?: string | undefined
  /**
   * The wire that alone is spoken, as a service speaks the words of one date: others are refused with 400 or 404.
   * Default: all of them, each answer in the words of its request; where these do not tell, `neutral`.
   */
  readonly wire?: WireName | undefined
  /** How many posts a project may read per month with the operations that count. Default 10,000,000. */
  readonly postCap?: number | undefined
  /**
   * How many dollars each app may spend in a billing cycle, a calendar month (UTC). The request that passes it is answered;
   * later ones are refused with 403 until the next cycle. Default: no limit.
   */
  readonly spendCap?: number | undefined
  /** How many connections an app may have to a stream, or to each part of one that comes in parts: from 1 (default) to 1,000. */
  readonly streamConnections?: number | undefined
  /** How many rules an app may have for the filtered stream: from 1 to 25,000. Default 1,000. */
  readonly streamRules?: number | undefined
  /** The share of requests that go wrong in one way or another, from 0 (default) to 1; the seed decides which. */
  readonly faults?: number | undefined
  /** What `/_sandbox` asks for. Default: a random one. */
  readonly adminToken?: Redacted.Redacted | undefined
}

/** Settings of a sandbox on a port. */
export interface ServerOptions extends Options {
  /** Default 0: any free one. */
  readonly port?: number | undefined
  /**
   * How long a request may take to arrive, body included. Later ones are answered with 408, and the connection ends.
   * Default: 30 seconds.
   */
  readonly requestTimeout?: Duration.Input | undefined
}

/** An option of the sandbox breaks a rule. */
export class InvalidOption extends Schema.TaggedError<InvalidOption>("@postwire/sandbox/Sandbox/InvalidOption")(
  "InvalidOption",
  { option: Schema.String, rule: Schema.String }
) {
  override get message() {
    return `${this.option} ${this.rule}`
  }
}

/** The first rule that the options break. */
export const invalid = (options: ServerOptions): InvalidOption | undefined => {
  const {
    faults = 0,
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
    ["postCap", postCap >= 0, "a number from 0"],
    ["spendCap", Bill.isCap(spendCap), "dollars, from 0"],
    ["streamConnections", isCount(streamConnections, 1_000), "a whole number from 1 to 1000"],
    ["streamRules", isCount(streamRules, 25_000), "a whole number from 1 to 25000"],
    ["port", Number.isInteger(port) && port >= 0 && port <= 65_535, "a whole number from 0 to 65535"],
    ["requestTimeout", isBetween(requestTimeout, 1, 2 ** 31 - 1), "from a millisecond to 24 days"]
  ]
  const broken = rules.find(([, isKept]) => !isKept)
  return broken && new InvalidOption({ option: broken[0], rule: `must be ${broken[2]}` })
}

const isCount = (count: number, most: number): boolean => Number.isInteger(count) && count >= 1 && count <= most

const isBetween = (duration: Duration.Input, least: number, most: number): boolean => {
  const millis = Duration.toMillis(duration)
  return millis >= least && millis <= most
}
