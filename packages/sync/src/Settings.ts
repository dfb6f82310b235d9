/** What a synchronous client is made with. */
import type * as Timeouts from "@postwire/core/http/Timeouts"
import type { OAuth2Settings } from "@postwire/core/promise/AccountSettings"
import type { Form } from "@postwire/core/schema/Definition"
import type * as NodeClient from "@postwire/node/NodeClient"

/** Every setting of a synchronous client. A dispatcher cannot be handed to a worker. */
export interface Settings<F extends Form = "response"> extends
  Omit<
    NodeClient.Settings<F>,
    "dispatcher" | "journal" | "logger" | "oauth2" | "onRateLimit" | "onRequest" | "onSpend" | "tokenStore"
  >
{
  /**
   * The tokens of a user. They have no `save`, because a function cannot be handed to a worker: what the client renews ends with
   * it, and the refresh token that was given is used up. What is to last is an `account`.
   */
  readonly oauth2?: Omit<OAuth2Settings, "save"> | undefined
  /**
   * Where the `account` is kept: a folder, which is named by a path (`./accounts`), or a `redis://` or `rediss://` address, which
   * needs the package `@redis/client`. Default: the folder of `postwire login`, `~/.config/postwire/accounts`.
   */
  readonly tokenStore?: string | undefined
  /**
   * Where uploads with `resume` and threads note how far they have come: a folder. Default: the folder of this user for such
   * things, `~/.local/state/postwire`.
   */
  readonly journal?: string | undefined
  /**
   * Limits in milliseconds. A number is the longest that one call may block, waits for a rate limit included. Without one
   * that is 5 minutes, or the total if it is longer, and `maxWait` on top with `waitOnRateLimit`.
   */
  readonly timeout?: number | Timeouts.Timeouts | undefined
  /** Gives the client a worker of its own, which ends with it, instead of the one that all clients share. */
  readonly ownWorker?: boolean | undefined
  /** Where `@postwire/sync/PostwireWorker` is, when the client is bundled and the worker is not beside the bundle. */
  readonly workerUrl?: string | URL | undefined
}
