import { docsSchema } from "@astrojs/starlight/schema"
import { defineCollection } from "astro:content"
import { fileURLToPath } from "node:url"
import { folder, pageOf } from "../../scripts/docs/Site.ts"
import { addresses, files, root, text } from "./repository.ts"

export const collections = {
  // What the first page shows besides the list of guides: sections of the README, and lines to copy.
  parts: defineCollection({
    loader: {
      name: "parts-of-the-first-page",
      load: async ({ renderMarkdown, store }) => {
        const set = async (id: string, body: string) =>
          store.set({ id, data: {}, rendered: await renderMarkdown(body, { fileURL: new URL("README.md", root) }) })
        for (const section of pageOf("README.md", text("README.md"), addresses).body.split(/^(?=## )/m).slice(1)) {
          const [, title = "", body = ""] = /^## (.+)\n([^]*)$/.exec(section) ?? []
          await set(title, body)
        }
        const fence = (lines: string) => `\`\`\`sh\n${lines}\n\`\`\``
        await set("install", fence("npm install @postwire/node @postwire/cli"))
        await set("clone", fence(`git clone ${addresses.repository}.git\ncd postwire\nnpm start`))
      }
    }
  }),
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
          const front = id === "index" ? { template: "splash", hero: {} } : {}
          store.set({
            id,
            data: await parseData({
              id,
              data: { title, description, tableOfContents, editUrl: false, ...front },
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
