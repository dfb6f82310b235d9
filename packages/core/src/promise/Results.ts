/** The types of progress, results and options that the Promise and sync clients have in common. */
export type {
  KeepOptions as KeepWebhookOptions,
  KeptWebhook,
  PlanOptions as PlanWebhookOptions,
  Progress as WebhookProgress,
  RegisteredWebhook,
  WantedSubscription,
  WantedWebhook,
  WebhookPlan
} from "../events/KeptWebhook.ts"
export type { Progress as UploadProgress, Uploaded, UploadedMedia } from "../media/Upload.ts"
export type { CreatedArticle } from "../publishing/Article.ts"
export type { Poll, Progress as PublishProgress, PublishedPost } from "../publishing/Publish.ts"
export type { PublishedThread } from "../publishing/Thread.ts"
export type {
  PlanOptions as PlanRulesOptions,
  Progress as RulesProgress,
  Rule,
  RulesPlan,
  SyncedRules,
  SyncOptions as SyncRulesOptions,
  WantedRule
} from "../streams/rules/StreamRules.ts"
export type {
  Job as ComplianceJob,
  Progress as ComplianceProgress,
  Result as ComplianceResult
} from "../workflows/Compliance.ts"
export type {
  Conversation,
  Options as ConversationOptions,
  Post as ConversationPost
} from "../workflows/Conversation.ts"
export type { Hydrated, Outcome as HydrationOutcome } from "../workflows/Hydrate.ts"
export type { MembersPlan, Outcome, PlanOptions, SyncedMembers, SyncOptions } from "../workflows/ListMembers.ts"
