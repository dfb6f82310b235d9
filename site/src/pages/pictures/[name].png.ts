import { readdirSync, readFileSync } from "node:fs"
import { root } from "../../repository.ts"

const folder = new URL("docs/pictures/", root)

export const getStaticPaths = () =>
  readdirSync(folder).filter((file) => file.endsWith(".png")).map((file) => ({
    params: { name: file.replace(/\.png$/, "") }
  }))

export const GET = ({ params }: { readonly params: { readonly name: string } }) =>
  new Response(readFileSync(new URL(`${params.name}.png`, folder)))
