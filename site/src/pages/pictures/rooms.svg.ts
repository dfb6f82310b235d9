import { picture } from "../../../../scripts/docs/Rooms.ts"

export const GET = () => new Response(picture())
