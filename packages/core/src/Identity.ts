/**
 * The id of the authenticated user. With `user_auth` true it is in the access token; otherwise the service is asked once
 * per client and bearer token, however many calls need it at the same time. A failed lookup is not remembered.
 */
import * as Cache from "effect/Cache"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

/** The route that tells the id. */
export const route = "GET /2/users/me"

/** The id inside an OAuth 1.0a access token: what stands before the first hyphen. */
export const ofAccessToken = (accessToken: string): string => accessToken.split("-", 1)[0] as string

/** Ids by bearer token, looked up once. */
export interface Identity<E> {
  readonly ofBearer: (bearerToken: string) => Effect.Effect<string, E>
}

/** Makes the memory of one client. */
export const make = <E>(lookup: (bearerToken: string) => Effect.Effect<string, E>): Effect.Effect<Identity<E>> =>
  Effect.map(
    Cache.makeWith(lookup, {
      capacity: 1024,
      timeToLive: (exit) => Exit.isSuccess(exit) ? "1000 days" : 0
    }),
    (cache) => ({ ofBearer: (bearerToken) => Cache.get(cache, bearerToken) })
  )
