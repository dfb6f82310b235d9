/** The commands by group, in the order of the help, each with a line about it. */

export const groups = {
  Read: {
    call: "Call any operation once",
    request: "Request any path of the service",
    counts: "Draw how many posts match a query",
    conversation: "Show a conversation as a tree",
    lists: "Import and export members of lists"
  },
  Write: {
    post: "Post a text with pictures or a poll",
    thread: "Post a file as a thread",
    article: "Create an article from Markdown",
    upload: "Upload a file, and print its media id",
    rules: "Rules of the filtered stream from a file",
    webhooks: "A webhook and its subscriptions from a file"
  },
  Chat: {
    chat: "Read and write encrypted chats"
  },
  "Keep in files": {
    sync: "Keep a copy in a database up to date",
    search: "Search the texts of a copy",
    query: "Query a copy with SQL",
    archive: "Read a copy in a browser",
    export: "Export an operation into a file",
    plan: "Estimate what an export costs",
    stream: "Write a stream to files",
    hydrate: "Fetch the posts or users of a file of ids",
    analytics: "Fetch the figures of your own posts",
    comply: "Remove deleted content from a stored file",
    worker: "Run parts of exports for a cluster",
    status: "Show the exports of a cluster"
  },
  "Accounts and settings": {
    login: "Sign in, and stay signed in",
    logout: "Sign out: revoke and remove an account",
    accounts: "List the accounts",
    config: "Set defaults, and see where each comes from",
    spend: "Show what was spent"
  },
  Develop: {
    doctor: "Find out why commands do not work",
    sandbox: "Start the whole service locally",
    listen: "Forward events to a program here",
    replay: "Forward recorded events again",
    trigger: "Make an event of any type",
    mcp: "Serve X to agents as tools",
    approve: "Approve what an agent wants to do",
    migrate: "Move a program from twitter-api-v2",
    demo: "Run a real export, from a local service",
    help: "Explain a command or a topic"
  }
} as const

export const lines = {
  ...groups.Read,
  ...groups.Write,
  ...groups.Chat,
  ...groups["Keep in files"],
  ...groups["Accounts and settings"],
  ...groups.Develop
}

export type Name = keyof typeof lines
