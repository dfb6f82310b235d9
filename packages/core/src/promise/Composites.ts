/** What is made of many calls, with Promises: members of lists and rules that become others, and whole conversations. */
import type * as StreamRules from "../streams/rules/StreamRules.ts"
import type * as Conversation from "../workflows/Conversation.ts"
import type * as ListMembers from "../workflows/ListMembers.ts"
import * as Calls from "./Calls.ts"
import * as Iteration from "./internal/iteration.ts"
import * as Workflows from "./Workflows.ts"

export type {
  PlanOptions as PlanRulesOptions,
  Progress as RulesProgress,
  Retagging,
  Rule,
  RulesPlan,
  SyncedRules,
  SyncOptions as SyncRulesOptions,
  WantedRule
} from "../streams/rules/StreamRules.ts"
export type {
  Author,
  Conversation,
  Missing,
  MissingReason,
  Node,
  Options as ConversationOptions,
  OutOfReach,
  Part,
  Post as ConversationPost
} from "../workflows/Conversation.ts"
export type { MembersPlan, Outcome, PlanOptions, SyncedMembers, SyncOptions, Wanted } from "../workflows/ListMembers.ts"

/** What is made of many calls, as methods of a client. */
export interface Composites {
  /**
   * Tells what it takes to make the members of a list those that are wished for: ids or usernames. Changes nothing. Reads the
   * members, and looks up usernames that are not among them.
   */
  readonly planListMembers: (
    list: string | number | bigint,
    desired: Iterable<ListMembers.Wanted>,
    options?: Calls.Signalled<ListMembers.PlanOptions>
  ) => Promise<ListMembers.MembersPlan>
  /**
   * Makes the members of a list those that are wished for: ids or usernames. Removes who is not, adds who is missing, one request
   * each, and tells what became of each. What is done is noted in the journal: the same call goes on where another one was
   * interrupted.
   */
  readonly syncListMembers: (
    list: string | number | bigint,
    desired: Iterable<ListMembers.Wanted>,
    options?: Calls.Signalled<ListMembers.SyncOptions>
  ) => Promise<ListMembers.SyncedMembers>
  readonly getConversation: GetConversation
  /**
   * Tells what it takes to make the rules of the filtered stream those that are wished for, and changes nothing. Reads the rules, and
   * asks the service whether it would take the new ones.
   */
  readonly planRules: (
    desired: Iterable<StreamRules.WantedRule>,
    options?: Calls.Signalled<StreamRules.PlanOptions>
  ) => Promise<StreamRules.RulesPlan>
  /**
   * Makes the rules of the filtered stream those that are wished for: adds what is missing, and then deletes what is not wished for.
   * Nothing is changed before the client and the service find all of it right. Safe to repeat, and to run in several processes.
   */
  readonly syncRules: (
    desired: Iterable<StreamRules.WantedRule>,
    options?: Calls.Signalled<StreamRules.SyncOptions>
  ) => Promise<StreamRules.SyncedRules>
}

/** Reads conversations, as a method. */
export interface GetConversation {
  /** The conversation that a post belongs to, as a tree: its first post and all replies that can be read, and what is missing. */
  (id: string | number | bigint, options?: Calls.Signalled<Conversation.Options>): Promise<Conversation.Conversation>
  /** The same as it comes: the first post, then the newest. A page is fetched when it is needed. */
  readonly parts: (
    id: string | number | bigint,
    options?: Calls.Signalled<Conversation.Options>
  ) => AsyncIterable<Conversation.Part>
}

/** How errors tell of them. */
export const calls = {
  planListMembers: { name: "planListMembers", effect: "read" },
  // The same call goes on.
  syncListMembers: { name: "syncListMembers", effect: "toggle" },
  getConversation: { name: "getConversation", effect: "read" },
  planRules: { name: "planRules", effect: "read" },
  syncRules: { name: "syncRules", effect: "toggle" }
} as const

/** The methods of a client. */
export const make = (context: Calls.Context): Composites => {
  const effects = Workflows.on((input: never) => input)
  return {
    planListMembers: (list, desired, options) =>
      Calls.call(context, calls.planListMembers, options, (own) => effects.planListMembers(list, desired, own)),
    syncListMembers: (list, desired, options) =>
      Calls.call(context, calls.syncListMembers, options, (own) => effects.syncListMembers(list, desired, own)),
    getConversation: Object.assign(
      (id: string | number | bigint, options?: Calls.Signalled<Conversation.Options>) =>
        Calls.call(context, calls.getConversation, options, (own) => effects.getConversation(id, own)),
      {
        parts: (id: string | number | bigint, options?: Calls.Signalled<Conversation.Options>) =>
          Iteration.iterable(context, calls.getConversation, options, (own) => effects.openConversation(id, own))
      }
    ),
    planRules: (desired, options) =>
      Calls.call(context, calls.planRules, options, (own) => effects.planRules(desired, own)),
    syncRules: (desired, options) =>
      Calls.call(context, calls.syncRules, options, (own) => effects.syncRules(desired, own))
  }
}
