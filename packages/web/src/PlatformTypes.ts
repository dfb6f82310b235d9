/**
 * The web API names in the declarations of this package and of Effect. Every platform has the APIs, but not every program has their
 * types: without the lib `DOM` and without the types of a runtime, these names let it compile. Where the types exist, these merge
 * with them and add nothing.
 */
// Merged declarations must have the same names and defaults.
// oxlint-disable typescript/no-explicit-any, no-unused-vars, postwire/no-shadow
declare global {
  interface AbortSignal {}
  interface Blob {}
  interface CryptoKey {}
  interface File {}
  interface FormData {}
  interface Headers {}
  interface JsonWebKey {}
  interface QueuingStrategy<T = any> {}
  interface ReadableStream<R = any> {}
  interface Request {}
  interface Response {}
  interface Storage {}
  interface TransformStream<I = any, O = any> {}
  interface URL {}
  interface URLSearchParams {}
  interface WritableStream<W = any> {}
}

// Effect needs the constructor. Only interfaces merge, so this one is declared in the module that needs it.
declare module "effect/Channel" {
  const TextDecoder: new(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean }) => unknown
}
