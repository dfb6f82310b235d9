import type { SatteriProcessorOptions } from "@astrojs/markdown-satteri"

import { existsSync } from "node:fs"

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

/**
 * A table has a frame, within which it scrolls. On a phone a row is a block; where there is more than a name and a text, cells
 * say their column.
 */
export const frames: Plugin = {
  name: "frames",
  element: {
    filter: ["table"],
    visit: (table, context) => {
      const all = (tag: string, node: typeof table): ReadonlyArray<typeof table> =>
        node.children.flatMap((child) =>
          child.type !== "element" ? [] : child.tagName === tag ? [child] : all(tag, child as typeof table)
        )
      const labels = all("th", table).map((head) => context.textContent(head))
      for (const row of labels.length > 2 ? all("tr", table) : []) {
        for (const [i, cell] of all("td", row).entries()) context.setProperty(cell, "data-label", labels[i])
      }
      // Scopes name "tweet" on most pages, which would hide the pages about posts.
      for (const row of all("tr", table)) {
        if (context.textContent(row).trim().startsWith("Scopes")) context.setProperty(row, "data-pagefind-ignore", "")
      }
      context.wrapNode(table, element("div", ["table", labels[0] === "Route" ? "box" : "rows"]))
    }
  }
}

/** A column without a name has no header, which a screen reader would announce as empty. */
export const corners: Plugin = {
  name: "corners",
  element: {
    filter: ["th"],
    visit: (cell, context) => context.textContent(cell).trim() === "" ? { ...cell, tagName: "td" } : undefined
  }
}

const isPicture = (source: string): boolean => existsSync(`../docs/pictures/${source.replace(/^.*\//, "")}`)

/** A picture that has a dark or a narrow twin, beside that: the theme or the width shows one of the two. */
export const shades: Plugin = {
  name: "shades",
  element: {
    filter: ["img"],
    visit: (image) => {
      const source = String(image.properties["src"])
      const narrow = source.replace(/\.svg$/, "-narrow.svg")
      if (narrow !== source && isPicture(narrow)) {
        const other = { ...element("source"), properties: { srcSet: narrow, media: "(max-width: 50rem)" } }
        return { ...element("picture"), children: [other, image] }
      }
      const twin = source.replace(/\.png$/, "-dark.png")
      if (twin === source || !isPicture(twin)) return
      const shown = (src: string, className: string) => ({
        ...image,
        properties: { ...image.properties, src, className: [className] }
      })
      return {
        ...element("span", ["pair"]),
        children: [shown(source, "dark:sl-hidden"), shown(twin, "light:sl-hidden")]
      }
    }
  }
}
