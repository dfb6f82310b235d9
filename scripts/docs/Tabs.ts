/** The three clients as tabs: in the Markdown they stand one below the other, each below a paragraph with its name. */

/** One of the clients: its name, and what is said of it with its program. */
export interface Tab {
  readonly label: string
  readonly html: string
}

/** A name with a colon, or in bold with more about it; then a program. */
const tab =
  /<p>(?:<strong>)?(Promises|Blocking|Effect)(?::|\.<\/strong>([^]*?))<\/p>\s*(<div class="expressive-code">[^]*?<\/figure><\/div>)\s*/g

const isNext = (match: RegExpExecArray | undefined, next: RegExpExecArray | undefined): boolean =>
  match !== undefined && match.index + match[0].length === next?.index

/** The pieces of a page: its HTML, and between them the tabs of programs that follow each other. */
export const partsOf = (html: string): ReadonlyArray<string | ReadonlyArray<Tab>> => {
  const parts: Array<string | Array<Tab>> = []
  let end = 0
  const matches = [...html.matchAll(tab)]
  for (const [i, match] of matches.entries()) {
    // One client alone is no choice.
    if (!isNext(matches[i - 1], match) && !isNext(match, matches[i + 1])) continue
    const { 0: whole, 1: label = "", 2: about = "", 3: program = "", index } = match
    const tabs = parts.at(-1)
    const next = { label, html: about.trim() === "" ? program : `<p>${about}</p>${program}` }
    if (index === end && typeof tabs === "object") tabs.push(next)
    else parts.push(html.slice(end, index), [next])
    end = index + whole.length
  }
  return [...parts, html.slice(end)]
}
