/**
 * Whether a worker that does not answer is still one to wait for. Its heartbeat rises while its event loop turns. Where it
 * stands still, the worker is dead if the process uses no CPU, stuck if it uses much, and otherwise merely short of it:
 * loading takes long then. All times are in milliseconds.
 */

/** How long the heartbeat may stand still at most, which is also how long the worker may take to load. */
const maxStillMillis = 30_000
/** For how long it may stand still without any CPU. While it loads it may wait for a disk. */
const maxIdleMillis = 3_000
const maxIdleMillisUnloaded = 10_000
/** For how long, and with how much CPU, it may stand still once it has loaded. */
const maxStuckMillis = 3_000
const maxStuckCpuMillis = 2_000
/** Less than this share of a sleep is no use of CPU. On a crowded machine a worker that wants to run gets a hundredth. */
const leastShareOfCpu = 0.003
/** A sleep counts for no more: a machine that slept itself has not stood still. */
const longestSleepMillis = 400

/** The CPU that all threads of this process have used. The caller's own uses none while it waits. */
const cpuMillis = (): number => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1_000
}

/** As one call perceives it. */
export class Pulse {
  readonly #cpuTime: () => number
  #heartbeat = 0
  /** Since the heartbeat stands still: how long that is, how long nothing used CPU, and how much was used. */
  #still = 0
  #idle = 0
  #used = 0
  #seen: number | undefined

  constructor(cpuTime: () => number = cpuMillis) {
    this.#cpuTime = cpuTime
  }

  /** After a sleep. */
  feel(heartbeat: number, slept: number): void {
    if (heartbeat !== this.#heartbeat) {
      this.#heartbeat = heartbeat
      this.#still = this.#idle = this.#used = 0
      this.#seen = undefined
      return
    }
    // Calls that are answered soon do not get here twice, and need not ask.
    const now = this.#cpuTime()
    const used = now - (this.#seen ?? now)
    const counted = Math.min(slept, longestSleepMillis)
    this.#still += counted
    this.#used += used
    this.#idle = used < leastShareOfCpu * counted ? this.#idle + counted : 0
    this.#seen = now
  }

  /** Whether the worker is to be given up. */
  hasStopped(isLoading: boolean): boolean {
    if (this.#still > maxStillMillis || this.#idle > (isLoading ? maxIdleMillisUnloaded : maxIdleMillis)) return true
    return !isLoading && this.#still > maxStuckMillis && this.#used > maxStuckCpuMillis
  }
}
