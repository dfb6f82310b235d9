/** The operations by plan and by what a credential needs, for the guide, from their declarations. */
import { bearerOf, type Definition } from "../../packages/core/src/schema/Definition.ts"
import * as Members from "./Members.ts"
import { areas, documented } from "./Source.ts"

const definitions = documented.map(({ definition }) => definition)

const link = ({ name }: Definition): string => `[\`${name}\`](reference/${name}.md)`

/** The operations that only Enterprise plans have. */
export const enterprise = (): string =>
  Members.table(
    ["Area", "Only with an Enterprise plan"],
    areas.flatMap(({ operations, title }) => {
      const only = operations.filter(({ definition }) => definition.selfServe === "none")
      return only.length === 0 ? [] : [[title, only.map(({ definition }) => link(definition)).join(", ")]]
    })
  )

/** The parameters that self-serve plans restrict. */
export const restricted = (): string =>
  Members.table(
    ["Parameter", "Rule"],
    definitions.flatMap((definition) =>
      typeof definition.selfServe === "object"
        ? Object.entries(definition.selfServe).map(([name, rule]) => [`${link(definition)}, \`${name}\``, rule])
        : []
    )
  )

/** Every operation with the credentials that it accepts, by area. */
export const access = (): string =>
  areas.map(({ operations, title }) =>
    `### ${title}\n\n${
      Members.table(
        ["Operation", "Plan", "App's token", "User's token", "OAuth 1.0a", "Scopes of a user's token"],
        operations.map(({ definition }) => {
          const bearer = bearerOf(definition)
          return [
            link(definition),
            definition.selfServe === "none"
              ? "Enterprise"
              : definition.selfServe === undefined
              ? "any"
              : "any, with a rule",
            bearer === "user" ? "" : definition.access === "research" ? "with archive access" : "yes",
            bearer === "app" ? "" : "yes",
            definition.userAuth === undefined ? "" : "yes",
            bearer === "app" ? "" : definition.scopes.map((scope) => `\`${scope}\``).join(" ")
          ]
        })
      )
    }`
  ).join("\n\n")
