import { assert, describe, it } from "@effect/vitest"
import { Pulse } from "../src/internal/pulse.ts"

/** Sleeps of 200 ms until the worker is given up, a minute at most; `cpu` is what a millisecond of them costs. */
const stopsAfter = (options: { readonly cpu: number; readonly isLoading?: boolean }) => {
  let time = 0
  const pulse = new Pulse(() => time * options.cpu)
  // It lives for a second.
  for (let heartbeat = 1; heartbeat <= 5; heartbeat++) {
    time += 200
    pulse.feel(heartbeat, 200)
    assert.isFalse(pulse.hasStopped(false))
  }
  for (let still = 200; still <= 60_000; still += 200) {
    time += 200
    pulse.feel(5, 200)
    if (pulse.hasStopped(options.isLoading === true)) return still
  }
  return Infinity
}

describe("a worker whose event loop stands still", () => {
  it("is given up after three seconds in which it had CPU to turn with", () => {
    assert.strictEqual(stopsAfter({ cpu: 1 }), 3_200)
    // Others of the process may be busy too.
    assert.strictEqual(stopsAfter({ cpu: 8 }), 3_200)
  })

  it("has longer where there is little CPU, as in a container with a tenth of one", () => {
    assert.strictEqual(stopsAfter({ cpu: 0.1 }), 20_400)
    assert.strictEqual(stopsAfter({ cpu: 0.02 }), 30_200)
    assert.strictEqual(stopsAfter({ cpu: 0.005 }), 30_200)
  })

  it("is given up after three seconds without any CPU, whatever it used before", () => {
    assert.strictEqual(stopsAfter({ cpu: 0 }), 3_200)
    let time = 0
    const pulse = new Pulse(() => time)
    for (let used = 0; used < 10; used++) {
      time += 100
      pulse.feel(0, 200)
      assert.isFalse(pulse.hasStopped(false))
    }
    for (let idle = 200; idle <= 3_000; idle += 200) {
      pulse.feel(0, 200)
      assert.isFalse(pulse.hasStopped(false))
    }
    pulse.feel(0, 200)
    assert.isTrue(pulse.hasStopped(false))
  })

  it("has half a minute to load, however busy, but less without any CPU: a preload may have ended it", () => {
    assert.strictEqual(stopsAfter({ cpu: 1, isLoading: true }), 30_200)
    assert.strictEqual(stopsAfter({ cpu: 0, isLoading: true }), 10_200)
  })

  it("is not given up for the time that it took to load, before its first heartbeat", () => {
    let time = 0
    const pulse = new Pulse(() => time)
    const sleep = () => {
      time += 200
      pulse.feel(0, 200)
    }
    for (let loading = 200; loading <= 10_000; loading += 200) {
      sleep()
      assert.isFalse(pulse.hasStopped(true))
    }
    for (let still = 0; still <= 3_000; still += 200) {
      assert.isFalse(pulse.hasStopped(false))
      sleep()
    }
    assert.isTrue(pulse.hasStopped(false))
  })

  it("is not given up for a machine that slept for an hour", () => {
    let time = 0
    const pulse = new Pulse(() => time)
    pulse.feel(1, 200)
    pulse.feel(1, 3_600_000)
    time += 3_600_000
    assert.isFalse(pulse.hasStopped(false))
    pulse.feel(2, 200)
    assert.isFalse(pulse.hasStopped(false))
  })
})
