/** Rules across the parameters of one operation, as data: the client enforces them, the sandbox re-checks them, docs print them. */

/** Exactly one of two parameters is required, or at most one (`none` allowed). */
export interface Alternatives<A extends string = string, B extends string = string, None extends boolean = boolean> {
  readonly _tag: "Alternatives"
  readonly of: readonly [A, B]
  readonly none: None
}

/** A dependency between parameters. */
export type Rule =
  | { readonly _tag: "AtLeastOne"; readonly of: ReadonlyArray<string> }
  | { readonly _tag: "Requires"; readonly parameter: string; readonly needs: string }
  | { readonly _tag: "Excludes"; readonly parameter: string; readonly other: string }

/** Exactly one of the two. */
export const exactlyOne = <const A extends string, const B extends string>(a: A, b: B): Alternatives<A, B, false> => ({
  _tag: "Alternatives",
  of: [a, b],
  none: false
})

/** One of the two, or neither. */
export const atMostOne = <const A extends string, const B extends string>(a: A, b: B): Alternatives<A, B, true> => ({
  _tag: "Alternatives",
  of: [a, b],
  none: true
})

/** At least one of them. */
export const atLeastOne = (...of: ReadonlyArray<string>): Rule => ({ _tag: "AtLeastOne", of })

/** `parameter` may be given only together with `needs`. */
export const requires = (parameter: string, needs: string): Rule => ({ _tag: "Requires", parameter, needs })

/** `parameter` may not be given together with `other`. */
export const excludes = (parameter: string, other: string): Rule => ({ _tag: "Excludes", parameter, other })

/** The message for an excluded parameter. */
export const excess = ({ other }: Rule & { readonly _tag: "Excludes" }): string =>
  `cannot be given together with ${other}`

/** The rule in words. */
export const format = (rule: Rule | Alternatives): string => {
  switch (rule._tag) {
    case "Alternatives":
      return `${rule.none ? "at most" : "exactly"} one of ${rule.of[0]} and ${rule.of[1]}`
    case "AtLeastOne":
      return `at least one of ${rule.of.join(", ")} is required`
    case "Requires":
      return `${rule.parameter} needs ${rule.needs}`
    case "Excludes":
      return `${rule.parameter} ${excess(rule)}`
  }
}

/** The parameter at fault when the rule is broken. */
export const broken = (rule: Rule, given: (name: string) => boolean): string | undefined => {
  switch (rule._tag) {
    case "AtLeastOne":
      return rule.of.some(given) ? undefined : rule.of[0]
    case "Requires":
      return given(rule.parameter) && !given(rule.needs) ? rule.needs : undefined
    case "Excludes":
      return given(rule.parameter) && given(rule.other) ? rule.parameter : undefined
  }
}
