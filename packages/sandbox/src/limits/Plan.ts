/** The plan of the apps. The service documents rules of its self-serve plans that Enterprise plans do not have. */

/** All plans; the first is the usual one. */
export const plans = ["enterprise", "self-serve"] as const

/** A plan. */
export type Plan = typeof plans[number]

/** The plan of all apps of a sandbox. */
export type Control = ReturnType<typeof make>

export const make = (usual: Plan = plans[0]) => {
  let plan = usual
  return {
    current: (): Plan => plan,
    set: (next: Plan): void => {
      plan = next
    },
    /** Returns to the plan of the option. */
    reset: (): void => {
      plan = usual
    }
  }
}
