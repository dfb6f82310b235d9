/** The common behaviour of all error classes. */
import { NodeInspectSymbol } from "effect/Inspectable"
import * as Predicate from "effect/Predicate"

type Inspect = (value: unknown, options: object) => string

// Effect prints errors as plain objects; users expect the message and the stack first.
const inspectAsError = function(this: object, _depth: number, options: object, inspect: Inspect): string {
  return inspect(this, { ...options, customInspect: false })
}

/** Holds the name of an error's class, across copies of this module. */
const mark = Symbol.for("@postwire/core/errors/Errors")

/** Makes `instanceof` work across copies of these classes, and `inspect` print their instances as errors. */
export const brand = (classes: ReadonlyArray<abstract new(...args: never) => Error>): void => {
  for (const errorClass of classes) {
    const { name } = errorClass.prototype
    Object.defineProperty(errorClass.prototype, NodeInspectSymbol, { value: inspectAsError })
    Object.defineProperty(errorClass.prototype, mark, { value: name })
    // A program may contain a module twice: in the Promise client, which is published as one file, and by itself.
    Object.defineProperty(errorClass, Symbol.hasInstance, {
      value(this: unknown, value: unknown): boolean {
        return this === errorClass
          ? Predicate.hasProperty(value, mark) && value[mark] === name
          // A subclass has only its own instances.
          : Function.prototype[Symbol.hasInstance].call(this, value)
      }
    })
  }
}
