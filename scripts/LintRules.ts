/**
 * Lint rules of this workspace: no value shadows a global of the platform, no assertion leaves the compiler without
 * anything to check, no module reads the date from the machine, and no import passes a wall between rooms.
 */
import { existsSync, readFileSync } from "node:fs"
import { join, posix } from "node:path"

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

/** The parts of a scope manager that the rule reads. */
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
  readonly filename: string
  readonly sourceCode: {
    readonly scopeManager: { readonly scopes: ReadonlyArray<{ readonly variables: ReadonlyArray<Variable> }> }
  }
  readonly report: (problem: { readonly node: object; readonly message: string }) => void
}

interface Assertion {
  readonly expression: { readonly type: string }
  readonly typeAnnotation: { readonly type: string }
}

interface Import {
  readonly source: { readonly value: unknown } | null
}

interface Construction {
  readonly callee: { readonly type: string; readonly name?: string }
  readonly arguments: ReadonlyArray<object>
}

/** The position distinguishes types from values, and a Node export with the name of a global is that global. */
const isAnother = ({ node, parent, type }: Definition): boolean => {
  if (type !== "ImportBinding") return type !== "Type"
  if (node.importKind === "type" || parent?.importKind === "type") return false
  const source = String(parent?.source?.value)
  return !source.startsWith("node:") || source === "node:timers/promises"
}

/** The rooms of a package from the bottom, by `rooms.json`; none where a package has no rooms. */
const roomsOf = (root: string): ReadonlyArray<string> => {
  const file = join(root, "rooms.json")
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : []
}

const packages = new Map<string, ReadonlyArray<string>>()

/** The reason why a module may not import another one of its package, if there is one. */
const wallBetween = (from: string, to: string, rooms: ReadonlyArray<string>): string | undefined => {
  const [outside, inside] = to.split("/internal/")
  if (inside !== undefined && !from.startsWith(`${outside}/`)) {
    return `\`${outside}/internal\` is imported by \`${outside}\` alone.`
  }
  const [own = "", other = ""] = [from, to].map((path) => path.replace(/(\.\w+|\/.*)$/, ""))
  const [place, target] = [rooms.indexOf(own), rooms.indexOf(other)]
  return place >= 0 && (target < 0 || target > place)
    ? `The room \`${own}\` imports rooms below it only, which \`${other}\` is not (rooms.json).`
    : undefined
}

export default {
  meta: { name: "postwire" },
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
    },
    rooms: {
      create: ({ filename, report }: Context) => {
        const [, root, from] = /^(.*\/packages\/[^/]+)\/src\/(.*)$/.exec(filename.replaceAll("\\", "/")) ?? []
        if (root === undefined || from === undefined) return {}
        const rooms = packages.get(root) ?? roomsOf(root)
        packages.set(root, rooms)
        const check = (node: Import) => {
          const source = node.source?.value
          if (typeof source !== "string" || !source.startsWith(".")) return
          const to = posix.join(posix.dirname(from), source)
          const message = to.startsWith("../") ? undefined : wallBetween(from, to, rooms)
          if (message !== undefined) report({ node, message })
        }
        return {
          ImportDeclaration: check,
          ExportAllDeclaration: check,
          ExportNamedDeclaration: check,
          ImportExpression: check
        }
      }
    },
    "no-blind-assertion": {
      create: ({ report }: Context) => ({
        TSAsExpression: (node: Assertion) => {
          if (node.typeAnnotation.type !== "TSNeverKeyword" && node.expression.type !== "TSAsExpression") return
          report({ node, message: "An assertion to `never`, or by way of another type, says nothing that is checked." })
        }
      })
    },
    "no-current-date": {
      create: ({ report }: Context) => ({
        NewExpression: (node: Construction) => {
          if (node.callee.name !== "Date" || node.arguments.length > 0) return
          report({ node, message: "Time comes from effect/Clock." })
        }
      })
    }
  }
}
