/** Fits lines into a number of tokens. */

/** The estimated characters of a token. */
const charactersPerToken = 4

/** The estimated tokens of a text. */
export const tokensOf = (text: string): number => Math.ceil(text.length / charactersPerToken)

/** The number of lines, from the first on, that fit; at least one, so that every answer makes progress. */
export const fitting = (lines: ReadonlyArray<string>, maxTokens: number): number => {
  let characters = 0
  let count = 0
  for (const line of lines) {
    characters += line.length + 1
    if (count > 0 && characters > maxTokens * charactersPerToken) break
    count++
  }
  return count
}
