import { satteri } from "@astrojs/markdown-satteri"
import starlight from "@astrojs/starlight"
import { defineConfig, passthroughImageService } from "astro/config"
import { globSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { groups } from "../scripts/docs/Sidebar.ts"
import { folder, idOf, others } from "../scripts/docs/Site.ts"
import { corners, frames, names, shades } from "./src/Markup.ts"
import { drawings, wholeWords } from "./src/WholeWords.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const { SITE_BASE = "/", SITE_OUT = "../out/site" } = process.env

export default defineConfig({
  base: SITE_BASE,
  outDir: SITE_OUT,
  cacheDir: "node_modules/.cache/astro",
  trailingSlash: "always",
  image: { service: passthroughImageService() },
  markdown: { processor: satteri({ hastPlugins: [names, frames, corners, shades] }) },
  // It is native, and cannot be bundled.
  vite: { ssr: { external: ["satteri"] } },
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
      // Rank pages by the frequency of words, not only by the title and the words that people look for.
      pagefind: {
        ranking: {
          pageLength: 0.2,
          termFrequency: 1,
          termSaturation: 1.4,
          termSimilarity: 1,
          metaWeights: { title: 5, words: 5 }
        }
      },
      // Messages and commands are read as a whole, and copied.
      expressiveCode: {
        defaultProps: {
          wrap: true,
          hangingIndent: 2,
          overridesByLang: {
            sh: { frame: "none", hangingIndent: 4 },
            text: { frame: "none", hangingIndent: 0 }
          }
        },
        // A terminal's 80 columns fit beside the lists of pages and headings.
        themes: ["vitesse-dark", "vitesse-light"],
        useStarlightUiThemeColors: true,
        styleOverrides: {
          borderRadius: "0.5rem",
          codeFontFamily: "var(--__sl-font-mono)",
          codeFontSize: "0.8125rem",
          codePaddingInline: "1rem",
          uiFontFamily: "var(--__sl-font)"
        },
        plugins: [wholeWords(), drawings()]
      },
      customCss: [
        "@fontsource-variable/ibm-plex-sans/wght.css",
        "@fontsource-variable/ibm-plex-sans/wght-italic.css",
        ...["400", "400-italic", "600"].map((face) => `@fontsource/ibm-plex-mono/latin-${face}.css`),
        "./src/site.css"
      ],
      components: {
        Hero: "./src/components/Hero.astro",
        MarkdownContent: "./src/components/MarkdownContent.astro",
        PageTitle: "./src/components/PageTitle.astro",
        Search: "./src/components/Search.astro",
        SiteTitle: "./src/components/SiteTitle.astro",
        SocialIcons: "./src/components/Links.astro"
      },
      disable404Route: false,
      credits: false
    })
  ]
})
