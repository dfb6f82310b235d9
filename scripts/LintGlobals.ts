/** A lint rule: no value has the name of one that platforms provide, so that a name means the same everywhere. */

/**
 * `Response` is missing: it is a term of ours, and the platform's is written `globalThis.Response`. So are `self`, which is
 * Effect's word for the first argument, and what only pages know (`window`, `document`): those are limits and problems here.
 */
const globals = new Set([
  "AbortController",
  "AbortSignal",
  "Blob",
  "Buffer",
  "Event",
  "EventTarget",
  "FormData",
  "Headers",
  "MessageChannel",
  "MessagePort",
  "ReadableStream",
  "Request",
  "TextDecoder",
  "TextEncoder",
  "URL",
  "URLSearchParams",
  "WebSocket",
  "clearImmediate",
  "clearInterval",
  "clearTimeout",
  "console",
  "crypto",
  "fetch",
  "navigator",
  "performance",
  "process",
  "queueMicrotask",
  "setImmediate",
  "setInterval",
  "setTimeout",
  "structuredClone"
])

/** What of a scope manager the rule reads. */
interface Definition {
  readonly type: string
  readonly name: object
  readonly node: { readonly importKind?: string }
  readonly parent?: { readonly importKind?: string; readonly source?: { readonly value: unknown } } | null
}

interface Variable {
  readonly name: string
  readonly defs: ReadonlyArray<Definition>
}

interface Context {
  readonly sourceCode: {
    readonly scopeManager: { readonly scopes: ReadonlyArray<{ readonly variables: ReadonlyArray<Variable> }> }
  }
  readonly report: (problem: { readonly node: object; readonly message: string }) => void
}

/** Types are told apart from values by where they stand, and what Node exports under the name of a global is that global. */
const isAnother = ({ node, parent, type }: Definition): boolean => {
  if (type !== "ImportBinding") return type !== "Type"
  if (node.importKind === "type" || parent?.importKind === "type") return false
  const source = String(parent?.source?.value)
  return !source.startsWith("node:") || source === "node:timers/promises"
}

export default {
  meta: { name: "globals" },
  rules: {
    "no-shadow": {
      create: ({ report, sourceCode }: Context) => ({
        Program: () => {
          for (const { defs, name } of sourceCode.scopeManager.scopes.flatMap(({ variables }) => variables)) {
            if (!globals.has(name)) continue
            for (const definition of defs.filter(isAnother)) {
              report({ node: definition.name, message: `\`${name}\` is a global of the platform.` })
            }
          }
        }
      })
    }
  }
}
