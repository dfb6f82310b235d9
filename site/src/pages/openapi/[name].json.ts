import { names } from "../../../../packages/core/src/wire/Wire.ts"
import { text } from "../../repository.ts"

export const getStaticPaths = () => names.map((name) => ({ params: { name } }))

export const GET = ({ params }: { readonly params: { readonly name: string } }) =>
  new Response(text(`docs/openapi/${params.name}.json`))
