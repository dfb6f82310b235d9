import { text } from "../../repository.ts"

export const GET = () => new Response(text("docs/pictures/rooms.svg"))
