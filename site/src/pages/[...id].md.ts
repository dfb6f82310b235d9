import { getCollection } from "astro:content"

export const getStaticPaths = async () =>
  (await getCollection("docs")).map(({ body, data, id }) => ({
    params: { id },
    props: { text: `# ${data.title}\n\n${body}` }
  }))

/** A page as Markdown, for programs that read. */
export const GET = ({ props }: { readonly props: { readonly text: string } }) => new Response(props.text)
