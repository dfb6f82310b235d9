/** A memory of what was seen lately. */

/** The number of texts that are remembered: repetitions come soon. */
const mostRemembered = 10_000

/** Makes a test of whether a text is new. */
export const make = (): (text: string) => boolean => {
  const seen = new Set<string>()
  return (text) => {
    if (seen.has(text)) return false
    seen.add(text)
    const [oldest] = seen.size > mostRemembered ? seen : []
    if (oldest !== undefined) seen.delete(oldest)
    return true
  }
}
