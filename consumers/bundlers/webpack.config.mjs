export default {
  mode: "production",
  target: "node22",
  entry: "./program.mjs",
  output: { path: `${import.meta.dirname}/out/webpack`, filename: "program.cjs" }
}
