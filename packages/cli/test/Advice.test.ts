import { assert, it } from "@effect/vitest"
import { samples } from "../../core/test/support/ErrorSamples.ts"
import * as ErrorReport from "../src/terminal/ErrorReport.ts"

/** What only programs can follow. */
const ofPrograms =
  /to the client|spendLimit|waitOnRateLimit|maxWait,|a longer maxWait|undecided|slowConsumer|resumeFrom|or syncRules|with (get|delete|update)[A-Z]/

it.each(samples)("$_tag is shown without advice for programs, with that for commands below", (error) => {
  const lines = ErrorReport.explain(error)
  assert.notMatch(lines.join("\n"), ofPrograms)
  assert.isAtMost(lines.length, 2)
  if ("advice" in error && error.advice !== undefined) {
    assert.notInclude(lines[0], error.advice)
    assert.lengthOf(lines, 2)
    if (error.message.endsWith(`. ${error.advice}`)) assert.match(lines[0] ?? "", /\.$/)
  }
})
