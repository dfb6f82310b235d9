"""The same with tweepy, as its documents show it. What is told comes as JSON in the first argument."""
import json
import sys
import threading
import time

import requests
import tweepy
import tweepy.streaming

told = json.loads(sys.argv[1])
pace = told["pace"]
sleep = time.sleep
tweepy.streaming.sleep = lambda seconds: sleep(seconds / pace)


def tell(**line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


class Redirected(requests.Session):
    """Tweepy knows one host, and its timeouts are in seconds of another clock."""

    def request(self, method, url, **kwargs):
        kwargs["timeout"] = kwargs["timeout"] / pace
        return super().request(method, url.replace("https://api.twitter.com", told["baseUrl"], 1), **kwargs)


class Follower(tweepy.StreamingClient):
    def on_tweet(self, tweet):
        tell(_tag="Items", consumer="all", ids=[str(tweet.id)])

    def on_exception(self, exception):
        tell(_tag="Event", consumer="all", name=f"Exception {type(exception).__name__}")


def ended():
    sys.stdin.read()
    import os
    os._exit(0)


threading.Thread(target=ended, daemon=True).start()
# What it cannot read ends its stream: whoever keeps such a program running starts it again.
while True:
    follower = Follower(told["bearerToken"])
    follower.session = Redirected()
    follower.session.trust_env = False
    follower.filter(tweet_fields=["created_at"])
    sleep(1 / pace)
