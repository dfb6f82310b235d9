# BASE_URL and ADMIN_TOKEN are in the JSON line of: postwire sandbox --port 0 --json
admin() {
  path=$1
  shift
  curl --silent --show-error --fail --header "Authorization: Bearer $ADMIN_TOKEN" "$@" "$BASE_URL/_sandbox$path"
}
json() { admin "$1" --json "$2"; }

# The third search is answered with 503, and the one after it breaks off in the middle of the body.
json /faults '{"operation": "searchRecentPosts", "nth": 3, "status": 503, "headers": {"retry-after": "1"}}'
json /faults '{"operation": "searchRecentPosts", "nth": 4, "truncate": true}'

# One request in ten goes wrong in one way or another; the seed decides which.
json /faults '{"probability": 0.1}'
admin /faults --request DELETE

# A quarter of an hour passes; two requests are left in this window.
json /clock '{"advance": "15 minutes"}'
json /budget '{"operation": "getMe", "remaining": 2}'

# Ada is signed in without a page; answers of the token endpoint are lost after the work; every login is listed.
json /grants '{"user": "ada", "scopes": ["tweet.read", "users.read", "offline.access"]}'
json /apps '{"name": "Mine", "kind": "confidential", "redirects": ["http://localhost:3000/callback"]}'
json /faults '{"operation": "refreshToken", "reset": "after"}'
admin /grants

# What was asked since the entry 5, to assert on.
admin '/journal?after=5'

# Start over with other data, save the state, restore it.
json /seed '{"posts": 200, "seed": 7, "start": "2026-01-01T00:00:00Z"}'
admin /snapshot --output "$SNAPSHOT"
admin /reset --request POST
admin /snapshot --request PUT --data-binary "@$SNAPSHOT"
admin /health
