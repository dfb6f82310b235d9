/** HTML in which everything is text unless it was written here. */

/** HTML that is safe to show. */
export interface Html {
  readonly html: string
}

type Value = Html | string | number | ReadonlyArray<Html>

/** HTML with values, which are escaped unless they are HTML. */
export const html = (strings: TemplateStringsArray, ...values: ReadonlyArray<Value>): Html => ({
  html: strings.map((part, index) => part + (index < values.length ? of(values[index] ?? "") : "")).join("")
})

const of = (value: Value): string =>
  typeof value === "string" || typeof value === "number"
    ? String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
    : "html" in value
    ? value.html
    : value.map(({ html }) => html).join("")

/** No HTML, for what is not there. */
export const nothing: Html = html``

/** A number with separators. */
export const count = (value: number): string => value.toLocaleString("en-US")

/** A time to the minute, which is UTC. */
export const time = (at: string): Html =>
  html`<time datetime="${at}" title="${at}">${at.slice(0, 16).replace("T", " ")}</time>`

/** Figures with their names; those that are unknown are omitted. */
export const figures = (named: Readonly<Record<string, number | null>>): Html =>
  html`<p class="figures soft">${
    Object.entries(named).map(([name, value]) => value === null ? nothing : html`<span>${name} ${count(value)}</span>`)
  }</p>`

/** A table of texts and numbers. */
export const table = (
  titles: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<Html | string | number | null>>
): Html =>
  html`<div class="wide" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${
    titles.map((title, index) =>
      html`<th scope="col"${typeof rows[0]?.[index] === "number" ? html` class="number"` : nothing}>${title}</th>`
    )
  }</tr></thead><tbody>${
    rows.map((cells) =>
      html`<tr>${
        cells.map((cell) =>
          typeof cell === "number" ? html`<td class="number">${count(cell)}</td>` : html`<td>${cell ?? ""}</td>`
        )
      }</tr>`
    )
  }</tbody></table></div>`
