// Admin calls, with the token of the tab.

const tokenKey = "postwire-admin-token"

export const hasToken = () => sessionStorage.getItem(tokenKey) !== null

/** @param {string} token */
export const keepToken = (token) => sessionStorage.setItem(tokenKey, token)

export const forgetToken = () => sessionStorage.removeItem(tokenKey)

/** The refusal of an admin call. */
export class Refused extends Error {
  /** @param {number} code @param {string} message @param {ReadonlyArray<string>} parameters */
  constructor(code, message, parameters) {
    super(message)
    this.status = code
    this.parameters = parameters
  }
}

/** @param {Response} response */
const refusalOf = async (response) => {
  const problem = await response.json().catch(() => ({}))
  const [first] = Array.isArray(problem?.errors) ? problem.errors : []
  return new Refused(
    response.status,
    String(first?.message ?? problem?.detail ?? `The sandbox responded with status ${response.status}.`),
    Object.keys(first?.parameters ?? {})
  )
}

/** The response to an admin call. @param {string} method @param {string} path @param {unknown} [body] */
export const ask = async (method, path, body) => {
  const isFile = body instanceof Blob
  const response = await fetch(`/_sandbox${path}`, {
    method,
    headers: {
      authorization: `Bearer ${sessionStorage.getItem(tokenKey) ?? ""}`,
      ...(body === undefined || isFile ? {} : { "content-type": "application/json" })
    },
    body: body === undefined ? null : isFile ? body : JSON.stringify(body)
  })
  if (!response.ok) throw await refusalOf(response)
  return response
}

/** The JSON document of an admin call. @param {string} method @param {string} path @param {unknown} [body] */
export const call = async (method, path, body) => (await ask(method, path, body)).json()
