export default {
  // Or Vite leaves out of the bundle what is in node_modules.
  ssr: { noExternal: true },
  build: { rollupOptions: { output: { entryFileNames: "program.mjs" } } }
}
