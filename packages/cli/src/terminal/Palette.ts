/** The colours and symbols of the terminal, by what they mean. Without colours, text stays as it is and has no symbols. */
import { styleText } from "node:util"
import type { Screen } from "./Terminal.ts"

const styles = {
  title: "bold",
  name: "cyan",
  faint: "dim",
  good: "green",
  warning: "yellow",
  bad: "red"
} as const

export type Role = keyof typeof styles

export const paint = ({ hasColors = false }: Screen, role: Role, text: string): string =>
  hasColors ? styleText(styles[role], text, { validateStream: false }) : text

const symbols = { good: "✓", warning: "!", bad: "✗", faint: "·" } as const

/** The text after the symbol of its role, in the role's colour. */
export const mark = (screen: Screen, role: keyof typeof symbols, text: string): string =>
  screen.hasColors === true ? paint(screen, role, `${symbols[role]} ${text}`) : text
