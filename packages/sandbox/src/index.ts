export * as Sandbox from "./Sandbox.ts"
