"""The process of tweepy: `tweepy_client.py <port> <token>`. It runs a batch whenever a line asks for it."""
import json
import sys
import time

import requests
import tweepy

port, token = sys.argv[1:3]


class Redirected(requests.Session):
    """Tweepy knows one host, and speaks TLS with it."""

    def request(self, method, url, **kwargs):
        return super().request(method, url.replace("https://api.twitter.com", f"http://127.0.0.1:{port}", 1), **kwargs)


client = tweepy.Client(bearer_token=token, return_type=dict)
client.session = Redirected()
client.session.trust_env = False

print(json.dumps("ready"), flush=True)
for line in sys.stdin:
    question = json.loads(line)
    if question["kind"] != "batch":
        print(json.dumps(time.process_time() * 1e6 if question["kind"] == "usage" else None), flush=True)
        continue
    request = question["request"]
    begun, before = time.perf_counter(), time.process_time()
    for _ in range(question["count"]):
        if question["workload"] == "one post":
            client.get_tweet(request["id"], tweet_fields=request["post_fields"])
        else:
            client.search_recent_tweets(
                request["query"],
                max_results=request["max_results"],
                expansions=request["expansions"],
                tweet_fields=request["post_fields"],
                user_fields=request["user_fields"],
            )
    count = question["count"]
    print(json.dumps({
        "cpu": (time.process_time() - before) * 1e6 / count,
        "wall": (time.perf_counter() - begun) * 1e6 / count,
    }), flush=True)
