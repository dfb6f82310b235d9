import { getCollection } from "astro:content"
import { groups } from "../../../scripts/docs/Sidebar.ts"

/** Every page, in the order of the list of pages. */
export const GET = async () => {
  const pages = new Map((await getCollection("docs")).map((page) => [page.id, page]))
  const ids = ["index", ...groups([...pages.keys()]).flatMap(({ ids }) => ids)]
  return new Response(
    ids.map((id) => pages.get(id)!).map(({ body, data }) => `# ${data.title}\n\n${body}`).join("\n\n")
  )
}
