/**
 * Detects a worker that has stopped. Its heartbeat rises while its event loop runs. If the heartbeat stops, the worker is dead if
 * the process uses no CPU, stuck if it uses much, and otherwise short of CPU: loading takes long then. All times are in
 * milliseconds.
 */

/** The longest time without a heartbeat, which is also the longest that the worker may take to load. */
const maxStillMillis = 30_000
/** The longest time without a heartbeat and without CPU use. A loading worker may wait for a disk. */
const maxIdleMillis = 3_000
const maxIdleMillisUnloaded = 10_000
/** The longest time without a heartbeat after loading, and the CPU time from which the worker counts as stuck. */
const maxStuckMillis = 3_000
const maxStuckCpuMillis = 2_000
/** A smaller share of a sleep counts as no CPU use. On a crowded machine a runnable worker gets a hundredth. */
const leastShareOfCpu = 0.003
/** A longer sleep counts as this long: the machine itself may have been suspended. */
const longestSleepMillis = 400

/** The CPU time of all threads of this process. The caller's thread uses none while it waits. */
const cpuMillis = (): number => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1_000
}

/** The heartbeat as seen by one call. */
export class Pulse {
  readonly #cpuTime: () => number
  #heartbeat = 0
  /** Since the last heartbeat: the time that passed, the time without CPU use, and the CPU time used. */
  #still = 0
  #idle = 0
  #used = 0
  #seen: number | undefined
  #wasLoading = false

  constructor(cpuTime: () => number = cpuMillis) {
    this.#cpuTime = cpuTime
  }

  /** Records the heartbeat after a sleep. */
  feel(heartbeat: number, slept: number): void {
    if (heartbeat !== this.#heartbeat) {
      this.#heartbeat = heartbeat
      return this.#reset()
    }
    // Short calls do not get here twice, and need not measure.
    const now = this.#cpuTime()
    const used = now - (this.#seen ?? now)
    const counted = Math.min(slept, longestSleepMillis)
    this.#still += counted
    this.#used += used
    this.#idle = used < leastShareOfCpu * counted ? this.#idle + counted : 0
    this.#seen = now
  }

  #reset(): void {
    this.#still = this.#idle = this.#used = 0
    this.#seen = undefined
  }

  /** True if the worker has stopped. */
  hasStopped(isLoading: boolean): boolean {
    // The first heartbeat follows the end of loading. Until then, the time that loading took does not count.
    if (this.#wasLoading && !isLoading) this.#reset()
    this.#wasLoading = isLoading
    if (this.#still > maxStillMillis || this.#idle > (isLoading ? maxIdleMillisUnloaded : maxIdleMillis)) return true
    return !isLoading && this.#still > maxStuckMillis && this.#used > maxStuckCpuMillis
  }
}
