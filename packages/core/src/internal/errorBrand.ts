/** What every class of errors has besides its members. */
import { NodeInspectSymbol } from "effect/Inspectable"
import * as Predicate from "effect/Predicate"

type Inspect = (value: unknown, options: object) => string

// Effect shows errors as plain objects; people who print one expect the message and the stack first.
const inspectAsError = function(this: object, _depth: number, options: object, inspect: Inspect): string {
  return inspect(this, { ...options, customInspect: false })
}

/** Says which of these errors something is, whichever copy of this module made it. */
const mark = Symbol.for("@postwire/core/errors/Errors")

/** Makes `instanceof` of these classes hold across copies of their module, and `inspect` show their errors as errors. */
export const brand = (classes: ReadonlyArray<abstract new(...args: never) => Error>): void => {
  for (const errorClass of classes) {
    const { name } = errorClass.prototype
    Object.defineProperty(errorClass.prototype, NodeInspectSymbol, { value: inspectAsError })
    Object.defineProperty(errorClass.prototype, mark, { value: name })
    // A program may hold a module twice: in the Promise client, which is published as one file, and by itself.
    Object.defineProperty(errorClass, Symbol.hasInstance, {
      value(this: unknown, value: unknown): boolean {
        return this === errorClass
          ? Predicate.hasProperty(value, mark) && value[mark] === name
          // A subclass has no errors but its own.
          : Function.prototype[Symbol.hasInstance].call(this, value)
      }
    })
  }
}
