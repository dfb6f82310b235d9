/** X as tools for agents: a server of the Model Context Protocol. */
export * as Gate from "./money/Gate.ts"
export * as Ledger from "./money/Ledger.ts"
export * as Http from "./server/Http.ts"
export * as Server from "./server/Server.ts"
export * as Tools from "./server/Tools.ts"
export * as Session from "./session/Session.ts"
export * as Tool from "./session/Tool.ts"
export * as Book from "./writing/Book.ts"
