"""The process of tweepy: `tweepy_client.py <address> <request>`. It runs a batch whenever a line asks for it."""
import json
import sys
import time

import requests
import tweepy

address = sys.argv[1]
request = json.loads(sys.argv[2])


class Redirected(requests.Session):
    """Tweepy knows one host, and speaks TLS with it."""

    def request(self, method, url, **kwargs):
        return super().request(method, url.replace("https://api.twitter.com", address, 1), **kwargs)


client = tweepy.Client(bearer_token=request["bearerToken"], return_type=dict)
client.session = Redirected()
client.session.trust_env = False

print(json.dumps("ready"), flush=True)
for line in sys.stdin:
    task = json.loads(line)
    if "measure" in task:
        print("{}", flush=True)
        continue
    begun, before = time.perf_counter(), time.process_time()
    for _ in range(task["count"]):
        if task["workload"] == "one post":
            client.get_tweet(request["id"], tweet_fields=request["post_fields"])
        else:
            client.search_recent_tweets(
                request["query"],
                max_results=request["max_results"],
                expansions=request["expansions"],
                tweet_fields=request["page_fields"],
                user_fields=request["user_fields"],
            )
    count = task["count"]
    print(json.dumps({
        "CPU": (time.process_time() - before) * 1e6 / count,
        "time": (time.perf_counter() - begun) * 1e6 / count,
    }), flush=True)
