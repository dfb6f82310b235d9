import { definePlugin, ExpressiveCodeAnnotation } from "@astrojs/starlight/expressive-code"

/** A word with hyphens, such as a flag; longer ones have to break on a phone. */
const hyphenated = /(?<!\S)(?=\S{1,32}(?!\S))[^\s"']*-[^\s"']*/g

class Whole extends ExpressiveCodeAnnotation {
  render({ nodesToTransform }: Parameters<ExpressiveCodeAnnotation["render"]>[0]) {
    return nodesToTransform.map((node) => ({
      type: "element" as const,
      tagName: "span",
      properties: { className: ["whole"] },
      children: [node]
    }))
  }
}

/** Browsers break lines after hyphens; in a shell command that tears flags apart. */
export const wholeWords = () =>
  definePlugin({
    name: "whole words",
    hooks: {
      annotateCode: ({ codeBlock }) => {
        if (codeBlock.language !== "sh") return
        for (const line of codeBlock.getLines()) {
          for (const { 0: word, index } of line.text.matchAll(hyphenated)) {
            line.addAnnotation(
              new Whole({ inlineRange: { columnStart: index, columnEnd: index + word.length }, renderPhase: "later" })
            )
          }
        }
      }
    }
  })

/** Code without a language and without a command is a drawing of characters, whose lines cannot be folded. */
export const drawings = () =>
  definePlugin({
    name: "drawings",
    hooks: {
      preprocessMetadata: ({ codeBlock }) => {
        if (codeBlock.language === "" && !codeBlock.code.startsWith("$")) codeBlock.props.wrap = false
      }
    }
  })
