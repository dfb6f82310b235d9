/** The proofs by their names; each is loaded when it is run. */
import type { Proof } from "./Model.ts"

export const proofs: Readonly<Record<string, () => Promise<{ readonly proof: Proof }>>> = {
  fuzz: () => import("./sections/Fuzz.ts"),
  interleavings: () => import("./sections/Interleavings.ts"),
  kills: () => import("./sections/Kills.ts"),
  scale: () => import("./sections/Scale.ts"),
  soak: () => import("./sections/Soak.ts")
}
