/** Composes texts of posts. */
import type { Random } from "../text/random.ts"
import * as Vocabulary from "../text/vocabulary.ts"
import type { Account } from "./Accounts.ts"

/** A text in a language; `said` if it is about the main topic. */
export const compose = (
  language: Vocabulary.Language,
  said: boolean,
  replies: boolean,
  someone: () => Account,
  random: Random
): string => {
  const tagged = said && random.chance(0.3)
  const subject = said && !tagged ? random.pick(Vocabulary.topic.words) : random.pick(language.subjects)
  const statement = random.pick(language.statements).replace("{t}", subject)
  const parts = [statement]
  if (replies) parts.unshift(random.pick(language.replies))
  else if (random.chance(0.6)) parts.unshift(random.pick(language.openers))
  if (random.chance(0.5)) {
    if (!statement.endsWith("?")) parts.push(parts.pop() + language.stop)
    parts.push(random.pick(language.closers))
  }
  if (random.chance(0.12)) parts.push(`cc @${someone().username}`)
  if (tagged) parts.push(`#${Vocabulary.topic.tag}`)
  if (random.chance(0.25)) parts.push(`#${random.pick(Vocabulary.tags)}`)
  if (random.chance(0.03)) parts.push(`$${random.pick(Vocabulary.cashtags)}`)
  if (random.chance(0.15)) parts.push(random.pick(Vocabulary.emoji))
  if (random.chance(0.12)) parts.push(`${random.pick(Vocabulary.sites)}${random.below(100_000)}`)
  return parts.join(" ")
}
