export POSTWIRE_BEARER_TOKEN=...
npm install -g @postwire/connectors
postwire-tap --config config.json --discover > catalog.json # choose streams and columns there
postwire-tap --config config.json --catalog catalog.json --state state.json | target-postgres > states.jsonl
