// #region convert
import { articleFromMarkdown } from "@postwire/core/publishing/ArticleMarkdown"

const text = `# On lighthouses

They are lit **at dusk**. ![The lamp](lighthouse.png)

| Lighthouse | Height |
| --- | --- |
| Eddystone | 49 m |
`

const { images } = articleFromMarkdown(text)
const { content_state, differences, title = "Untitled" } = articleFromMarkdown(text, {
  media: Object.fromEntries(images.map(({ name }) => [name, name]))
})
for (const { line, shown, what } of differences) console.log(`line ${line}: ${what}, shown ${shown}`)
// #endregion

// #region create
import { createClient } from "@postwire/node"

await using client = createClient()

const article = {
  title,
  content_state,
  images: { "lighthouse.png": { file: "lighthouse.png", alt: "The lamp" } }
}
const draft = await client.createArticle(article, { key: "lighthouses" })
console.log("draft", draft.article_id)

const { post_id } = await client.createArticle(article, { key: "lighthouses", publish: true })
console.log("post", post_id)
// #endregion
