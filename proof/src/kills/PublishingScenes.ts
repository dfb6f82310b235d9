/** Commands that publish. */
import type * as Sandbox from "@postwire/sandbox/Sandbox"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { concat, png } from "../../../packages/core/test/support/MediaBytes.ts"
import { pathOf } from "../../../packages/sandbox/src/media/MediaFiles.ts"
import type { Scene } from "./Scene.ts"

export const publishingOf = (sandbox: Sandbox.RunningSandbox): Readonly<Record<string, Scene>> => {
  const { ada, baseUrl, store } = sandbox
  let number = 0
  return {
    thread: {
      invariant: "every part once, in order",
      begin: (root) => {
        const name = `thread ${++number}.`
        writeFileSync(
          join(root, "thread.md"),
          ["One", "Two", "Three"].map((text) => `${text} of ${name}`).join("\n---\n")
        )
        return {
          args: ["thread", "thread.md"],
          state: () =>
            store.overview.list("posts", { limit: 20, userId: ada.id }).items
              .map((post) => String(Reflect.get(post, "text")))
              .filter((text) => text.endsWith(` of ${name}`))
              .map((text) => text.split(" ")[0])
        }
      }
    },
    article: {
      invariant: "one draft and one post",
      begin: (root) => {
        const title = `Tea ${++number}`
        writeFileSync(join(root, "cup.png"), png())
        writeFileSync(join(root, "tea.md"), `# ${title}\n\nBoil water.\n\n![A cup](cup.png)\n`)
        const made = () =>
          store.documents.all("article", { ownerId: ada.id, key: "" }).filter(({ body }) => body.title === title)
        const args = ["article", "tea.md", "--publish"]
        return {
          args,
          // Nothing reads a draft: its user says whether it is there.
          decide: (errors) => {
            const [draft] = made()
            if (!errors.includes("may exist")) return undefined
            return [...args, ...draft === undefined ? ["--continue"] : ["--draft", draft.id]]
          },
          state: () => made().map(({ body }) => body.post_id !== undefined)
        }
      }
    },
    upload: {
      invariant: "the bytes of the file, with their text",
      begin: (root) => {
        const content = concat(png(), new Uint8Array(3_000_000).fill(++number))
        writeFileSync(join(root, "cat.png"), content)
        return {
          args: ["upload", "cat.png", "--alt", "A cat"],
          state: async (output) => {
            const media = store.overview.find(output.trim()).items[0] ?? {}
            const response = await fetch(`${baseUrl}${pathOf(String(Reflect.get(media, "media_key")), "image/png")}`)
            const isSame = Buffer.from(await response.arrayBuffer()).equals(content)
            return { isSame, text: Reflect.get(media, "alt_text") }
          }
        }
      }
    }
  }
}
