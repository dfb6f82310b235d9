// Serves its metrics to Prometheus at http://localhost:9464/metrics.
import { createClient, prometheusMetrics } from "@postwire/node"
import { createServer } from "node:http"

const server = createServer((_, response) => {
  response.setHeader("content-type", "text/plain; version=0.0.4; charset=utf-8")
  response.end(prometheusMetrics())
}).listen(Number(process.env["METRICS_PORT"] ?? 9464))

const client = createClient({ waitOnRateLimit: true })
for await (const post of client.searchRecentPosts.items({ query: "effect" })) console.log(post.text)
await client.close()
server.close()
