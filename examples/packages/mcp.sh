npx -y @postwire/cli mcp --print-config claude-code # what to put into the configuration of a host; three others are known
npx -y @postwire/cli mcp --toolsets posts,users     # the server itself, on standard input and output: it only reads
