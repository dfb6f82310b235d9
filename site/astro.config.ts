import { satteri } from "@astrojs/markdown-satteri"
import starlight from "@astrojs/starlight"
import { defineConfig, passthroughImageService } from "astro/config"
import { globSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { groups } from "../scripts/docs/Sidebar.ts"
import { folder, idOf, others } from "../scripts/docs/Site.ts"
import { frames, names } from "./src/Markup.ts"
import { wholeWords } from "./src/WholeWords.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const { SITE_BASE = "/", SITE_OUT = "../out/site" } = process.env

export default defineConfig({
  base: SITE_BASE,
  outDir: SITE_OUT,
  cacheDir: "node_modules/.cache/astro",
  trailingSlash: "always",
  image: { service: passthroughImageService() },
  markdown: { processor: satteri({ hastPlugins: [names, frames] }) },
  integrations: [
    starlight({
      title: "Postwire",
      description: "A client, command line and local sandbox for X's (formerly Twitter's) API v2.",
      sidebar: groups([...globSync(`${folder}/**/*.md`, { cwd: root }), ...others].map(idOf)).map((
        { collapsed, ids, label }
      ) => ({
        label,
        collapsed,
        items: ids.map((slug) => ({ slug }))
      })),
      markdown: { processedDirs: ["../docs"] },
      // Rank pages by the frequency of words, not only by the title.
      pagefind: { ranking: { pageLength: 0.2, termFrequency: 1, termSaturation: 1.4, termSimilarity: 1 } },
      // Messages and commands are read as a whole, and copied.
      expressiveCode: {
        defaultProps: {
          overridesByLang: { sh: { wrap: true, frame: "none", hangingIndent: 4 }, text: { wrap: true, frame: "none" } }
        },
        // A terminal's 80 columns fit beside the lists of pages and headings.
        styleOverrides: { codeFontSize: "0.8125rem", codePaddingInline: "0.875rem" },
        plugins: [wholeWords()]
      },
      customCss: ["./src/site.css"],
      components: { PageTitle: "./src/components/PageTitle.astro", SocialIcons: "./src/components/Versions.astro" },
      disable404Route: false,
      credits: false
    })
  ]
})
