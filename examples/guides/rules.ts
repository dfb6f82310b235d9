import * as Query from "@postwire/core/query/Query"
import * as Result from "effect/Result"

// #region sync
import { createClient } from "@postwire/node"

await using client = createClient()
const desired = [
  { value: "(cat OR kitten) has:images -is:repost", tag: "cats" },
  { value: "from:ada lang:en", tag: "ada" }
]
const { add, remove, retag } = await client.planRules(desired)
console.log(`${add.length} to add, ${remove.length} to delete, ${retag.length} with another tag`)

const { rules, uncovered } = await client.syncRules(desired, { onProgress: ({ step }) => console.log(step) })
console.log(rules.map(({ id, tag }) => `${tag}: ${id}`), uncovered.length)
// #endregion

// #region check
const checked = Query.check("cat form:ada", { dialect: "rule" })
if (Result.isFailure(checked)) {
  console.log(checked.failure.position, checked.failure.message) // 4 form: is not an operator (did you mean from:?)
}
// #endregion
