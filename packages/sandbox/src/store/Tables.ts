/**
 * The tables. Ids contain the creation time (see `Snowflake`); `key` columns order relations by creation. Counts are
 * denormalised and change in the same transaction. AUTOINCREMENT remembers the largest id ever assigned, so deleted ids are
 * never reused.
 */

/** The JSON columns of each table. */
export const json = {
  apps: ["redirects"],
  chat_keys: ["record"],
  dm_events: ["participant_ids", "entities", "attachments"],
  documents: ["body"],
  media: ["facts"],
  places: ["facts"],
  polls: ["options"],
  posts: ["entities", "attachments", "facts"],
  spaces: ["people"],
  uploads: ["additional_owners", "failure"],
  users: ["entities"]
}

/** The tables that an in-memory database has in a temporary file, because they grow as long as it runs; see `Database`. */
export const bulk = {
  media_segments: `(
    media_id INTEGER NOT NULL, position INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (media_id, position)
  ) STRICT`,
  charged_resources: `(
    app_id INTEGER NOT NULL, day TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL,
    PRIMARY KEY (app_id, day, kind, id)
  ) STRICT, WITHOUT ROWID`
}

/** A table of pairs and its index. */
const pairs = (table: string, a: string, b: string): ReadonlyArray<string> => [
  `CREATE TABLE IF NOT EXISTS ${table} (
    key INTEGER PRIMARY KEY AUTOINCREMENT, ${a} INTEGER NOT NULL, ${b} INTEGER NOT NULL, UNIQUE (${b}, ${a})
  ) STRICT`,
  `CREATE INDEX IF NOT EXISTS ${table}_by_${a.replace("_id", "")} ON ${table} (${a})`
]

/** The statements that create missing tables. */
export const tables: ReadonlyArray<string> = [
  ...Object.entries(bulk).map(([name, columns]) => `CREATE TABLE IF NOT EXISTS ${name} ${columns}`),
  `CREATE TABLE IF NOT EXISTS users (
    id INTEGER PRIMARY KEY AUTOINCREMENT, username TEXT NOT NULL UNIQUE COLLATE NOCASE, name TEXT NOT NULL,
    description TEXT NOT NULL, location TEXT, url TEXT, profile_image_url TEXT NOT NULL,
    verified_type TEXT NOT NULL, protected INTEGER NOT NULL, photo_tagging INTEGER NOT NULL,
    receives_dm INTEGER NOT NULL, suspended INTEGER NOT NULL DEFAULT 0, pinned_post_id INTEGER, entities TEXT,
    followers_count INTEGER NOT NULL DEFAULT 0, following_count INTEGER NOT NULL DEFAULT 0,
    post_count INTEGER NOT NULL DEFAULT 0, like_count INTEGER NOT NULL DEFAULT 0,
    listed_count INTEGER NOT NULL DEFAULT 0
  ) STRICT`,
  "CREATE INDEX IF NOT EXISTS users_suspended ON users (id) WHERE suspended = 1",
  `CREATE TABLE IF NOT EXISTS media (
    id INTEGER PRIMARY KEY AUTOINCREMENT, media_key TEXT NOT NULL UNIQUE, owner_id INTEGER NOT NULL,
    type TEXT NOT NULL, facts TEXT NOT NULL
  ) STRICT`,
  "CREATE INDEX IF NOT EXISTS media_by_owner ON media (owner_id)",
  // The id is that of the media, which exists from finalized_at on.
  `CREATE TABLE IF NOT EXISTS uploads (
    id INTEGER PRIMARY KEY AUTOINCREMENT, owner_id INTEGER NOT NULL, additional_owners TEXT NOT NULL, category TEXT,
    media_type TEXT, total_bytes INTEGER, expires_at INTEGER NOT NULL, finalized_at INTEGER, ready_at INTEGER,
    failure TEXT, used INTEGER NOT NULL DEFAULT 0
  ) STRICT`,
  "CREATE INDEX IF NOT EXISTS uploads_by_owner ON uploads (owner_id)",
  `CREATE TABLE IF NOT EXISTS media_subtitles (
    media_id INTEGER NOT NULL, language_code TEXT NOT NULL, subtitles_id INTEGER NOT NULL,
    display_name TEXT NOT NULL, PRIMARY KEY (media_id, language_code)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS polls (
    id INTEGER PRIMARY KEY AUTOINCREMENT, options TEXT NOT NULL, duration_minutes INTEGER NOT NULL
  ) STRICT`,
  "CREATE TABLE IF NOT EXISTS places (id TEXT PRIMARY KEY, facts TEXT NOT NULL) STRICT, WITHOUT ROWID",
  `CREATE TABLE IF NOT EXISTS posts (
    id INTEGER PRIMARY KEY AUTOINCREMENT, author_id INTEGER NOT NULL, text TEXT NOT NULL,
    conversation_id INTEGER NOT NULL, in_reply_to_user_id INTEGER, in_reply_to_post_id INTEGER,
    quoted_post_id INTEGER, reposted_post_id INTEGER, lang TEXT NOT NULL, source TEXT NOT NULL,
    reply_settings TEXT NOT NULL, possibly_sensitive INTEGER NOT NULL, hidden INTEGER NOT NULL DEFAULT 0,
    unlisted INTEGER NOT NULL DEFAULT 0, audience TEXT NOT NULL DEFAULT 'all', entities TEXT, attachments TEXT,
    place_id TEXT, facts TEXT, extra TEXT, impression_count INTEGER NOT NULL, like_count INTEGER NOT NULL DEFAULT 0,
    reply_count INTEGER NOT NULL DEFAULT 0, repost_count INTEGER NOT NULL DEFAULT 0,
    quote_count INTEGER NOT NULL DEFAULT 0, bookmark_count INTEGER NOT NULL DEFAULT 0
  ) STRICT`,
  "CREATE INDEX IF NOT EXISTS posts_by_author ON posts (author_id)",
  "CREATE INDEX IF NOT EXISTS posts_by_quoted ON posts (quoted_post_id) WHERE quoted_post_id IS NOT NULL",
  `CREATE UNIQUE INDEX IF NOT EXISTS posts_by_reposted ON posts (reposted_post_id, author_id)
   WHERE reposted_post_id IS NOT NULL`,
  // Contentless: words and facts of public posts, encoded by src/text/Terms.ts, by post id.
  `CREATE VIRTUAL TABLE IF NOT EXISTS post_index USING fts5(
    text, facts, urls, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '_'"
  )`,
  `CREATE TABLE IF NOT EXISTS mentions (
    user_id INTEGER NOT NULL, post_id INTEGER NOT NULL, PRIMARY KEY (user_id, post_id)
  ) STRICT, WITHOUT ROWID`,
  ...pairs("likes", "user_id", "post_id"),
  ...pairs("bookmarks", "user_id", "post_id"),
  `CREATE TABLE IF NOT EXISTS bookmark_folders (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user_id INTEGER NOT NULL, name TEXT NOT NULL
  ) STRICT`,
  "CREATE INDEX IF NOT EXISTS bookmark_folders_by_user ON bookmark_folders (user_id)",
  ...pairs("bookmark_folder_posts", "folder_id", "post_id"),
  `CREATE TABLE IF NOT EXISTS follows (
    key INTEGER PRIMARY KEY AUTOINCREMENT, source_id INTEGER NOT NULL, target_id INTEGER NOT NULL,
    pending INTEGER NOT NULL, UNIQUE (source_id, target_id)
  ) STRICT`,
  "CREATE INDEX IF NOT EXISTS follows_by_target ON follows (target_id)",
  ...pairs("blocks", "source_id", "target_id"),
  `CREATE TABLE IF NOT EXISTS dm_blocks (
    key INTEGER PRIMARY KEY AUTOINCREMENT, source_id INTEGER NOT NULL, target_id INTEGER NOT NULL,
    UNIQUE (target_id, source_id)
  ) STRICT`,
  ...pairs("mutes", "source_id", "target_id"),
  `CREATE TABLE IF NOT EXISTS lists (
    id INTEGER PRIMARY KEY AUTOINCREMENT, owner_id INTEGER NOT NULL, name TEXT NOT NULL, description TEXT NOT NULL,
    private INTEGER NOT NULL, member_count INTEGER NOT NULL DEFAULT 0, follower_count INTEGER NOT NULL DEFAULT 0
  ) STRICT`,
  "CREATE INDEX IF NOT EXISTS lists_by_owner ON lists (owner_id)",
  ...pairs("list_members", "list_id", "user_id"),
  `CREATE TABLE IF NOT EXISTS list_followers (
    key INTEGER PRIMARY KEY AUTOINCREMENT, list_id INTEGER NOT NULL, user_id INTEGER NOT NULL,
    UNIQUE (list_id, user_id)
  ) STRICT`,
  "CREATE INDEX IF NOT EXISTS list_followers_by_user ON list_followers (user_id)",
  ...pairs("pinned_lists", "user_id", "list_id"),
  `CREATE TABLE IF NOT EXISTS affiliates (
    key INTEGER PRIMARY KEY AUTOINCREMENT, organization_id INTEGER NOT NULL, user_id INTEGER NOT NULL UNIQUE
  ) STRICT`,
  "CREATE INDEX IF NOT EXISTS affiliates_by_organization ON affiliates (organization_id)",
  `CREATE TABLE IF NOT EXISTS communities (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, description TEXT NOT NULL, access TEXT NOT NULL,
    join_policy TEXT NOT NULL
  ) STRICT`,
  `CREATE TABLE IF NOT EXISTS community_members (
    community_id INTEGER NOT NULL, user_id INTEGER NOT NULL, PRIMARY KEY (community_id, user_id)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS topics (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, description TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS spaces (
    key INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, creator_id INTEGER NOT NULL, title TEXT,
    terms TEXT NOT NULL, scheduled_start INTEGER, started_at INTEGER, ended_at INTEGER,
    is_ticketed INTEGER NOT NULL, lang TEXT NOT NULL, people TEXT NOT NULL, participant_count INTEGER NOT NULL,
    subscriber_count INTEGER NOT NULL
  ) STRICT`,
  "CREATE INDEX IF NOT EXISTS spaces_by_creator ON spaces (creator_id)",
  `CREATE TABLE IF NOT EXISTS space_buyers (
    key INTEGER PRIMARY KEY AUTOINCREMENT, space_id TEXT NOT NULL, user_id INTEGER NOT NULL,
    UNIQUE (space_id, user_id)
  ) STRICT`,
  `CREATE TABLE IF NOT EXISTS space_posts (
    key INTEGER PRIMARY KEY AUTOINCREMENT, space_id TEXT NOT NULL, post_id INTEGER NOT NULL,
    UNIQUE (post_id, space_id)
  ) STRICT`,
  "CREATE INDEX IF NOT EXISTS space_posts_by_space ON space_posts (space_id)",
  "CREATE TABLE IF NOT EXISTS dm_conversations (id TEXT PRIMARY KEY, type TEXT NOT NULL) STRICT, WITHOUT ROWID",
  `CREATE TABLE IF NOT EXISTS dm_participants (
    conversation_id TEXT NOT NULL, user_id INTEGER NOT NULL, PRIMARY KEY (conversation_id, user_id)
  ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX IF NOT EXISTS dm_participants_by_user ON dm_participants (user_id)",
  `CREATE TABLE IF NOT EXISTS dm_events (
    id INTEGER PRIMARY KEY AUTOINCREMENT, conversation_id TEXT NOT NULL, event_type TEXT NOT NULL,
    sender_id INTEGER NOT NULL, text TEXT, participant_ids TEXT, entities TEXT, attachments TEXT
  ) STRICT`,
  "CREATE INDEX IF NOT EXISTS dm_events_by_conversation ON dm_events (conversation_id)",
  `CREATE TABLE IF NOT EXISTS compliance_jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT, app_id INTEGER NOT NULL, type TEXT NOT NULL, name TEXT,
    resumable INTEGER NOT NULL, upload_key TEXT NOT NULL, download_key TEXT NOT NULL, uploaded_at INTEGER,
    ready_at INTEGER, failure TEXT, size INTEGER NOT NULL DEFAULT 0
  ) STRICT`,
  "CREATE INDEX IF NOT EXISTS compliance_jobs_by_app ON compliance_jobs (app_id, type)",
  `CREATE TABLE IF NOT EXISTS compliance_results (
    job_id INTEGER NOT NULL, position INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (job_id, position)
  ) STRICT`,
  `CREATE TABLE IF NOT EXISTS apps (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, access TEXT NOT NULL, rights TEXT NOT NULL,
    consumer_key TEXT NOT NULL UNIQUE, consumer_secret TEXT NOT NULL, client_id TEXT NOT NULL UNIQUE,
    client_secret TEXT, redirects TEXT NOT NULL, rotation TEXT NOT NULL, app_token TEXT
  ) STRICT`,
  `CREATE TABLE IF NOT EXISTS documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, owner_id INTEGER NOT NULL, of_key TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT`,
  "CREATE INDEX IF NOT EXISTS documents_by_owner ON documents (kind, owner_id)",
  "CREATE INDEX IF NOT EXISTS documents_by_key ON documents (kind, of_key)",
  `CREATE TABLE IF NOT EXISTS stream_rules (
    id INTEGER PRIMARY KEY AUTOINCREMENT, app_id INTEGER NOT NULL, value TEXT NOT NULL, tag TEXT,
    UNIQUE (app_id, value)
  ) STRICT`,
  // A webhook with `linked_at` gets the posts of the filtered stream, too.
  `CREATE TABLE IF NOT EXISTS webhooks (
    id INTEGER PRIMARY KEY AUTOINCREMENT, app_id INTEGER NOT NULL, url TEXT NOT NULL,
    valid INTEGER NOT NULL, checked_at INTEGER NOT NULL DEFAULT 0, linked_at INTEGER, UNIQUE (app_id, url)
  ) STRICT`,
  `CREATE TABLE IF NOT EXISTS activity_subscriptions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, app_id INTEGER NOT NULL, event_type TEXT NOT NULL, user_id INTEGER,
    keyword TEXT, direction TEXT, tag TEXT, webhook_id INTEGER, updated_at INTEGER NOT NULL
  ) STRICT`,
  "CREATE INDEX IF NOT EXISTS activity_subscriptions_by_type ON activity_subscriptions (event_type, user_id)",
  "CREATE INDEX IF NOT EXISTS activity_subscriptions_by_app ON activity_subscriptions (app_id)",
  `CREATE TABLE IF NOT EXISTS account_activity (
    webhook_id INTEGER NOT NULL, user_id INTEGER NOT NULL, PRIMARY KEY (webhook_id, user_id)
  ) STRICT, WITHOUT ROWID`,
  "CREATE TABLE IF NOT EXISTS app_owners (app_id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL) STRICT",
  // A day is formatted as 2026-11-22 (UTC), and micros are millionths of a dollar.
  `CREATE TABLE IF NOT EXISTS charges (
    app_id INTEGER NOT NULL, day TEXT NOT NULL, operation TEXT NOT NULL, requests INTEGER NOT NULL,
    charged INTEGER NOT NULL, repeated INTEGER NOT NULL, micros INTEGER NOT NULL,
    PRIMARY KEY (app_id, day, operation)
  ) STRICT, WITHOUT ROWID`,
  // Times are in milliseconds, here and below.
  `CREATE TABLE IF NOT EXISTS grants (
    id INTEGER PRIMARY KEY AUTOINCREMENT, app_id INTEGER NOT NULL, user_id INTEGER NOT NULL, kind TEXT NOT NULL,
    scope TEXT NOT NULL, rights TEXT NOT NULL, issued_at INTEGER NOT NULL, renewed_at INTEGER NOT NULL,
    expires_at INTEGER, refreshes INTEGER NOT NULL DEFAULT 0, replays INTEGER NOT NULL DEFAULT 0,
    reuse_detected INTEGER NOT NULL DEFAULT 0, ended_at INTEGER, ended_by TEXT
  ) STRICT`,
  "CREATE INDEX IF NOT EXISTS grants_alive ON grants (app_id, user_id) WHERE ended_at IS NULL",
  "CREATE INDEX IF NOT EXISTS grants_ended ON grants (id) WHERE ended_at IS NOT NULL",
  `CREATE TABLE IF NOT EXISTS access_tokens (
    token TEXT PRIMARY KEY, secret TEXT NOT NULL, app_id INTEGER NOT NULL, user_id INTEGER NOT NULL,
    rights TEXT NOT NULL, grant_id INTEGER
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS bearer_tokens (
    hash TEXT PRIMARY KEY, app_id INTEGER NOT NULL, user_id INTEGER, rights TEXT NOT NULL, scopes TEXT NOT NULL,
    grant_id INTEGER, expires_at INTEGER, used INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX IF NOT EXISTS bearer_tokens_by_grant ON bearer_tokens (grant_id) WHERE grant_id IS NOT NULL",
  `CREATE TABLE IF NOT EXISTS chat_keys (
    key INTEGER PRIMARY KEY AUTOINCREMENT, user_id INTEGER NOT NULL, record TEXT NOT NULL
  ) STRICT`,
  "CREATE INDEX IF NOT EXISTS chat_keys_by_user ON chat_keys (user_id)",
  // Reserved ids of groups are not opened.
  `CREATE TABLE IF NOT EXISTS chat_conversations (
    key INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, type TEXT NOT NULL, creator_id INTEGER NOT NULL,
    group_name TEXT, key_version TEXT, opened INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE IF NOT EXISTS chat_members (
    conversation_id TEXT NOT NULL, user_id INTEGER NOT NULL, admin INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, user_id)
  ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX IF NOT EXISTS chat_members_by_user ON chat_members (user_id)",
  `CREATE TABLE IF NOT EXISTS chat_events (
    id INTEGER PRIMARY KEY AUTOINCREMENT, conversation_id TEXT NOT NULL, sender_id INTEGER NOT NULL,
    message_id TEXT NOT NULL, type TEXT NOT NULL, encoded TEXT NOT NULL, seen_by INTEGER,
    UNIQUE (conversation_id, sender_id, message_id)
  ) STRICT`,
  `CREATE TABLE IF NOT EXISTS chat_files (
    id INTEGER PRIMARY KEY AUTOINCREMENT, conversation_id TEXT NOT NULL, hash_key TEXT NOT NULL,
    finalized INTEGER NOT NULL DEFAULT 0
  ) STRICT`,
  // A grant has one current token and at most one spent token, its predecessor. All others are dead.
  `CREATE TABLE IF NOT EXISTS refresh_tokens (
    hash TEXT PRIMARY KEY, grant_id INTEGER NOT NULL, state TEXT NOT NULL, access_hash TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX IF NOT EXISTS refresh_tokens_by_grant ON refresh_tokens (grant_id, state)",
  `CREATE TABLE IF NOT EXISTS authorization_codes (
    hash TEXT PRIMARY KEY, app_id INTEGER NOT NULL, user_id INTEGER NOT NULL, redirect TEXT NOT NULL,
    challenge TEXT NOT NULL, method TEXT NOT NULL, scope TEXT NOT NULL, expires_at INTEGER NOT NULL,
    grant_id INTEGER
  ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX IF NOT EXISTS authorization_codes_by_grant ON authorization_codes (grant_id, expires_at)",
  `CREATE TABLE IF NOT EXISTS request_tokens (
    token TEXT PRIMARY KEY, secret TEXT NOT NULL, app_id INTEGER NOT NULL, callback TEXT NOT NULL,
    rights TEXT NOT NULL, user_id INTEGER, verifier_hash TEXT, expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`
]
