// Undici types its entry only, and importing that costs more than twice as much as importing the Agent.
declare module "undici/lib/dispatcher/agent.js" {
  export { Agent as default } from "undici"
}
