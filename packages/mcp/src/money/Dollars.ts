/** Amounts in micro-dollars as text. */
export const dollars = (micros: number): string => {
  const digits = micros % 10_000 === 0 ? 2 : micros % 1_000 === 0 ? 3 : 6
  return `$${(micros / 1_000_000).toFixed(digits)}`
}
