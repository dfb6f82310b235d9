// #region fits
import * as PostText from "@postwire/core/text/PostText"

const text = "Engines: https://example.com/engines?page=2 👩‍💻"
console.log(text.length, PostText.length(text), PostText.fits(text))
console.log(PostText.faultOf("x".repeat(281)))
// #endregion

// #region split
const parts = PostText.split("A thread of many words. ".repeat(20), { numbered: true })
for (const part of parts) console.log(PostText.length(part), part.slice(-8))
// #endregion

// #region entities
import * as PostEntities from "@postwire/core/text/PostEntities"

const { mentions, urls } = PostEntities.find("@ada wrote about #engines on example.com")
console.log(mentions[0]?.username, urls[0]?.url, urls[0]?.start)
// #endregion
