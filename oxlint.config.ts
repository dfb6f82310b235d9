import { defineConfig } from "oxlint"

interface Restriction {
  readonly regex: string
  readonly message: string
}

const barrels: Restriction = {
  regex: "^(effect(/[a-z][a-z-]*)?|@effect/platform-node)$",
  message: "Import the module (effect/Effect): a barrel costs start-up time and tree shaking."
}

const platforms: Restriction = {
  regex: "^(node:.*|undici|@effect/platform-node.*)$",
  message: "This runs on every platform."
}

const clients: Restriction = {
  regex: "^@postwire/(node|web|sync|sandbox|cli)(/.*)?$",
  message: "The core does not know its clients."
}

const hosts: Restriction = {
  regex: "^@postwire/(node|sync|sandbox|cli)(/.*)?$",
  message: "They need Node, and this is for where there is none."
}

const service: Restriction = {
  regex: "^@postwire/(sandbox|cli)(/.*)?$",
  message: "A client depends neither on the sandbox nor on the command."
}

const catalogue: Restriction = {
  regex: "(^|/)Catalogue\\.ts$",
  message: "Only clients import the catalogue, so that a program that uses one operation bundles one."
}

const imports = (...patterns: Array<Restriction>): { "eslint/no-restricted-imports": ["error", object] } => ({
  "eslint/no-restricted-imports": ["error", { patterns }]
})

export default defineConfig({
  plugins: ["eslint", "typescript", "unicorn", "oxc", "import", "vitest"],
  categories: { correctness: "error", suspicious: "error" },
  options: { denyWarnings: true, reportUnusedDisableDirectives: "error" },
  jsPlugins: ["./scripts/LintRules.ts"],
  ignorePatterns: ["**/dist", "**/out", ".scratch"],
  rules: {
    "eslint/eqeqeq": "error",
    "postwire/no-shadow": "error",
    "eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
    "eslint/no-var": "error",
    "eslint/prefer-const": "error",
    "import/no-unassigned-import": ["error", { allow: ["@postwire/core/runtime/SupportedNode"] }],
    "import/no-cycle": ["error", { ignoreTypes: false }],
    "typescript/consistent-type-imports": "error",
    "typescript/no-explicit-any": "error",
    "unicorn/prefer-node-protocol": "error",

    // `_tag` is Effect's discriminator, and shadowing, sorting a fresh array and sized arrays are its style.
    "eslint/no-shadow": "off",
    "eslint/no-underscore-dangle": "off",
    "unicorn/consistent-function-scoping": "off",
    "unicorn/no-array-reverse": "off",
    "unicorn/no-array-sort": "off",
    "unicorn/no-new-array": "off",
    // Identifiers and text are validated by their control characters.
    "eslint/no-control-regex": "off",
    // A MessagePort has no origin.
    "unicorn/require-post-message-target-origin": "off",
    // Tests assert with `assert`, `it.effect` is no `it`, and a suite may carry the name of its subject.
    "vitest/expect-expect": "off",
    // `test` may be that of `@postwire/sandbox/vitest`, which the rule does not know.
    "vitest/no-standalone-expect": "off",
    "vitest/valid-title": "off"
  },
  // The last override that names a rule decides it.
  overrides: [
    { files: ["packages/*/test/types/**"], rules: { "eslint/no-unused-expressions": "off" } },
    {
      files: ["packages/*/src/**"],
      rules: { ...imports(barrels), "postwire/no-blind-assertion": "error", "postwire/rooms": "error" }
    },
    { files: ["packages/{core,node,web,sync,sandbox,export}/src/**"], rules: { "eslint/no-console": "error" } },
    { files: ["packages/{node,sync,export}/src/**"], rules: imports(barrels, service) },
    { files: ["packages/web/src/**"], rules: imports(barrels, platforms, hosts) },
    {
      files: ["packages/core/src/**"],
      rules: {
        ...imports(barrels, platforms, clients, catalogue),
        "postwire/no-current-date": "error",
        "eslint/no-restricted-properties": [
          "error",
          { object: "Date", property: "now", message: "Time comes from effect/Clock." },
          { object: "Math", property: "random", message: "Chance comes from effect/Random." }
        ]
      }
    },
    {
      files: ["packages/core/src/{index.ts,promise/**/*.ts}"],
      rules: imports(barrels, platforms, clients)
    }
  ]
})
