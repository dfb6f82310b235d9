/** The page shown in the browser after the redirect, without scripts or other files. */
import * as HttpServerResponse from "effect/http/HttpServerResponse"

/** A page. Its texts may come from a service. */
export interface Page {
  readonly title: string
  readonly text: string
  readonly isGood: boolean
}

/** The page as a response. It is not cached, and its address, which contains the code, is not sent as a referrer. */
export const respond = ({ isGood, text, title }: Page): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<style>
:root { color-scheme: light dark; font: 1.0625rem/1.5 system-ui, sans-serif }
body { max-width: 34rem; margin: 18vh auto 0; padding: 0 1.5rem }
h1 { font-size: 1.5rem; line-height: 1.25 }
h1::before { content: "${isGood ? "✓" : "✗"} " / ""; color: ${
      isGood ? "light-dark(#1a7f37, #3fb950)" : "light-dark(#b3261e, #ff8a80)"
    } }
p { overflow-wrap: anywhere }
</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
<p>${escaped(text)}</p>
</main>
</body>
</html>
`,
    {
      status: isGood ? 200 : 400,
      contentType: "text/html; charset=utf-8",
      headers: {
        "cache-control": "no-store",
        "content-security-policy":
          "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        connection: "close"
      }
    }
  )

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
