import { sources, text } from "../../repository.ts"

export const getStaticPaths = () => sources().map((file) => ({ params: { file } }))

export const GET = ({ params }: { readonly params: { readonly file: string } }) => new Response(text(params.file))
