import { getCollection } from "astro:content"
import { groups } from "../../../scripts/docs/Sidebar.ts"
import { addresses } from "../repository.ts"

export const GET = async () => {
  const pages = new Map((await getCollection("docs")).map((page) => [page.id, page]))
  const start = pages.get("index")!
  const line = (id: string) => {
    const { data: { description, title } } = pages.get(id)!
    return `- [${title}](${addresses.base}${id}.md): ${description}`
  }
  const all = groups([...pages.keys()])
  const sections = all.map(({ ids, label }) => `## ${label}\n\n${ids.map(line).join("\n")}`)
  return new Response(`# ${start.data.title}\n\n> ${start.data.description}\n\n${sections.join("\n\n")}\n`)
}
