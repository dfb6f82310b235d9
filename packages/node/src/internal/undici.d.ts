// See "imports" in package.json. Undici types its entry only, and importing that costs more than twice as much as importing
// the Agent.
declare module "#undici/agent" {
  export { Agent as default } from "undici"
}

declare module "#undici" {
  export { EnvHttpProxyAgent, ProxyAgent } from "undici"
}
