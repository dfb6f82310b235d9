import { globSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { root, text } from "../../repository.ts"

export const getStaticPaths = () =>
  globSync("docs/pictures/*.svg", { cwd: fileURLToPath(root) })
    .map((file) => ({ params: { name: file.replace(/^.*[\\/]|\.svg$/g, "") } }))

export const GET = ({ params }: { readonly params: { readonly name: string } }) =>
  new Response(text(`docs/pictures/${params.name}.svg`))
