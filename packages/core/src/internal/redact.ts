/** Removes secrets from a text. */
export type Redact = (text: string) => string
