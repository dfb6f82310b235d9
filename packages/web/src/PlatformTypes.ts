/**
 * The names of web APIs that declarations of this package and of Effect hold. Every platform has the APIs, but not every
 * program has their types: without the lib `DOM` and without the types of a runtime, the names are enough to compile.
 * Where the types are there, these are merged with them and add nothing.
 */
// What is merged has the same names and defaults.
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

// Effect asks for the constructor here. What is no interface cannot be merged, so it is declared where it is asked for.
declare module "effect/Channel" {
  const TextDecoder: new(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean }) => unknown
}
