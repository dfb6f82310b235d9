import { docsSchema } from "@astrojs/starlight/schema"
import { defineCollection } from "astro:content"
import { fileURLToPath } from "node:url"
import { folder, pageOf } from "../../scripts/docs/Site.ts"
import { addresses, files, root, text } from "./repository.ts"

export const collections = {
  docs: defineCollection({
    schema: docsSchema(),
    loader: {
      name: "markdown-of-the-repository",
      load: async ({ generateDigest, parseData, renderMarkdown, store, watcher }) => {
        const read = async (file: string) => {
          const { body, description, id, title } = pageOf(file, text(file), addresses)
          const path = fileURLToPath(new URL(file, root))
          // The sections of the reference's tables are too many for a list of contents beside them.
          const tableOfContents = file.startsWith(`${folder}/reference/`)
            ? { minHeadingLevel: 2, maxHeadingLevel: 2 }
            : undefined
          store.set({
            id,
            data: await parseData({
              id,
              data: { title, description, tableOfContents, editUrl: false },
              filePath: path
            }),
            body,
            filePath: `../${file}`,
            digest: generateDigest(body),
            rendered: await renderMarkdown(body, { fileURL: new URL(file, root) })
          })
        }
        store.clear()
        for (const file of files()) await read(file)
        watcher?.add(fileURLToPath(new URL(folder, root)))
        watcher?.on("change", (changed) => {
          const file = files().find((file) => fileURLToPath(new URL(file, root)) === changed)
          if (file !== undefined) void read(file)
        })
      }
    }
  })
}
