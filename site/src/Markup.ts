import type { SatteriProcessorOptions } from "@astrojs/markdown-satteri"

type Plugin = Exclude<
  NonNullable<SatteriProcessorOptions["hastPlugins"]>[number],
  Function | ReadonlyArray<unknown> | null | undefined | false
>

const text = (value: string) => ({ type: "text" as const, value })
const element = (tagName: string, className: ReadonlyArray<string> = [], value = "") => ({
  type: "element" as const,
  tagName,
  properties: className.length === 0 ? {} : { className: [...className] },
  children: value === "" ? [] : [text(value)]
})

/** Words with hyphens, such as flags. */
const hyphenated = /(?<!\S)(?=\S{1,32}(?!\S))(\S*-\S*)/
/** The seams of a name, a path or a type. */
const seams = /(?<=[a-z])(?=[A-Z])|(?<=[\w@>][_./<,])(?=\w)/

/** Code in a line breaks where its words end: not after hyphens, and long ones at seams in the narrow columns of tables. */
export const names: Plugin = {
  name: "names",
  element: {
    filter: ["code"],
    visit: (code, context) => {
      const parents: Array<string> = []
      for (let node = context.parent(code); node?.type === "element"; node = context.parent(node)) {
        parents.push(node.tagName)
      }
      if (parents.includes("pre")) return
      const isInTable = parents.includes("td")
      const broken = (words: string) =>
        words.split(/(?<=\s)/).flatMap((word) =>
          (isInTable && word.trimEnd().length > 18 ? word.split(seams) : [word])
            .flatMap((part, index) => index === 0 ? [text(part)] : [element("wbr"), text(part)])
        )
      return {
        ...code,
        children: context.textContent(code).split(hyphenated).flatMap((piece, index) =>
          index % 2 === 1 ? [element("span", ["whole"], piece)] : broken(piece)
        )
      }
    }
  }
}

/** A table that is too wide scrolls within its frame. */
export const frames: Plugin = {
  name: "frames",
  element: {
    filter: ["table"],
    visit: (table, context) => context.wrapNode(table, element("div", ["table"]))
  }
}
