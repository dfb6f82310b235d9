import { createClient, NotFound } from "@postwire/web"

/** The output of the page, line by line. */
export async function* lines(): AsyncGenerator<string> {
  // The page's own credential of its user. The proxy has the credential of the service.
  const client = createClient({ baseUrl: location.origin, bearerToken: "session-of-ada", waitOnRateLimit: true })
  try {
    const { data: ada } = await client.getUser({ username: "ada" })
    yield `This is ${ada?.name}.`
    if (ada === undefined) return
    for await (const { text } of client.getUsersPosts.items({ id: ada.id }, { limit: 10 })) yield text
  } catch (error) {
    if (!(error instanceof NotFound)) throw error
    yield "There is no ada."
  }
}
