/** The settings of a synchronous client. */
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
   * The tokens of a user. They have no `save`, because a function cannot be handed to a worker: refreshed tokens are lost with the
   * client, and the given refresh token is used up. Use an `account` to keep them.
   */
  readonly oauth2?: Omit<OAuth2Settings, "save"> | undefined
  /**
   * The store of the `account`: the path of a folder (`./accounts`), or a `redis://` or `rediss://` address, which needs the
   * package `@redis/client`. Default: the folder of `postwire login`, `~/.config/postwire/accounts`.
   */
  readonly tokenStore?: string | undefined
  /**
   * The folder in which uploads with `resume` and threads record their progress. Default: the state folder of this user,
   * `~/.local/state/postwire`.
   */
  readonly journal?: string | undefined
  /**
   * Timeouts in milliseconds. A number is the longest time that one call may block, waits for a rate limit included. The default is
   * 5 minutes, or the total timeout if it is longer, plus `maxWait` with `waitOnRateLimit`.
   */
  readonly timeout?: number | Timeouts.Timeouts | undefined
  /** Gives the client its own worker, which ends with it, instead of the worker that all clients share. */
  readonly ownWorker?: boolean | undefined
  /** The address of `@postwire/sync/PostwireWorker`, if the client is bundled and the worker is not beside the bundle. */
  readonly workerUrl?: string | URL | undefined
}
