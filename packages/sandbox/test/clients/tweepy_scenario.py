"""What a program on tweepy does against a sandbox. Settings come as JSON on standard input; a failure is an exit code."""
import json
import os
import re
import sys
import time
from urllib.parse import parse_qs, urlsplit

import requests
import tweepy

settings = json.load(sys.stdin)
secrets = settings["secrets"]
reader = settings["reader"]
needles = settings["needles"]
liked = settings["liked"]


class Redirected(requests.Session):
    """Tweepy knows one host. A session sees a request before it is signed, so what is signed is what is sent."""

    def request(self, method, url, **kwargs):
        return super().request(method, url.replace("https://api.twitter.com", settings["baseUrl"], 1), **kwargs)


def connect(keys=None, bearer=None, **options):
    client = tweepy.Client(
        bearer_token=bearer,
        **({} if keys is None else {
            "consumer_key": keys["consumerKey"],
            "consumer_secret": keys["consumerSecret"],
            "access_token": keys["accessToken"],
            "access_token_secret": keys["accessTokenSecret"],
        }),
        **options,
    )
    client.session = Redirected()
    # The service is this machine, whatever proxy the environment names.
    client.session.trust_env = False
    return client


def same(actual, expected):
    assert actual == expected, f"{actual!r} is not {expected!r}"


def refused(error, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except error as refusal:
        return refusal
    raise AssertionError(f"{call.__name__} was not refused with {error.__name__}")


app = connect(bearer=secrets["appToken"])
signed = connect(secrets)
user = connect(bearer=secrets["bearerToken"])
# Each client with what it says to be a user.
forms = [(signed, {"user_auth": True}), (user, {"user_auth": False})]


def reads():
    for client, form in forms:
        me = client.get_me(user_fields=["created_at", "public_metrics"], **form)
        same(str(me.data.id), settings["ada"])
        assert me.data.created_at.tzinfo is not None and me.data.public_metrics["tweet_count"] > 0
    for client, form in [(app, {})] + forms:
        same(str(client.get_user(username="ada", **form).data.id), settings["ada"])
        post = client.get_tweet(
            needles[0],
            expansions=["author_id", "referenced_tweets.id", "edit_history_tweet_ids"],
            tweet_fields=["public_metrics", "created_at"],
            user_fields=["verified"],
            **form,
        )
        same(post.data.text, "needle 0 (50% & more)")
        same(str(post.data.author_id), settings["ada"])
        same([(each.type, str(each.id)) for each in post.data.referenced_tweets], [("quoted", liked)])
        same(post.data.public_metrics["retweet_count"], 0)
        same(post.includes["users"][0].username, "ada")
        assert post.includes["users"][0].verified in (True, False)
        assert liked in [str(each.id) for each in post.includes["tweets"]]


def pages():
    for client, form in [(app, {})] + forms:
        pages = list(tweepy.Paginator(client.get_liking_users, liked, max_results=2, **form))
        same([page.meta["result_count"] for page in pages], [2, 2, 1])
        same(sorted(str(each.id) for page in pages for each in page.data), sorted(settings["likers"]))
        before = client.get_liking_users(
            liked, max_results=2, pagination_token=pages[-1].meta["previous_token"], **form)
        same(before.data, pages[1].data)
        found = tweepy.Paginator(client.search_recent_tweets, "needle", max_results=10, **form).flatten()
        same([str(each.id) for each in found], needles)


def writes():
    for client, form in forms:
        text = "It's (really) new! 100% é 😀 *&+="
        shown = client.create_tweet(media_ids=settings["mediaIds"][:1], **form).data["id"]
        same(client.delete_tweet(shown, **form).data, {"deleted": True})
        created = client.create_tweet(text=text, quote_tweet_id=needles[0], **form)
        same(created.data["text"], text)
        post = created.data["id"]
        reply = client.create_tweet(text="an answer", in_reply_to_tweet_id=post, **form).data["id"]
        same(client.like(post, **form).data, {"liked": True})
        same(client.retweet(post, **form).data, {"retweeted": True, "id": post})
        same(app.get_tweet(post, tweet_fields="public_metrics").data.public_metrics["like_count"], 1)
        for _ in range(2):
            same(client.unretweet(post, **form).data, {"retweeted": False})
        same(client.unlike(post, **form).data, {"liked": False})
        same(client.hide_reply(reply, **form).data, {"hidden": True})
        same(client.delete_tweet(post, **form).data, {"deleted": True})
        gone = app.get_tweet(post)
        same((gone.data, gone.errors[0]["title"]), (None, "Not Found Error"))
    same(user.bookmark(needles[0]).data, {"bookmarked": True})
    same(str(user.get_bookmarks(max_results=5).data[0].id), needles[0])


def lists():
    member = settings["likers"][0]
    for client, form in forms:
        # As its own recordings have it.
        created = client.create_list("Test List", private=True, **form)
        same(created.data["name"], "Test List")
        id = created.data["id"]
        same(client.add_list_member(id, member, **form).data, {"is_member": True})
        same([str(each.id) for each in client.get_list_members(id, **form).data], [member])
        same(client.pin_list(id, **form).data, {"pinned": True})
        pinned = client.get_pinned_lists(
            list_fields=["private", "member_count"], expansions="owner_id", **form)
        same(pinned.meta, {"result_count": 3})
        same([(each.private, each.member_count) for each in pinned.data if str(each.id) == id], [(True, 1)])
        assert settings["ada"] in [str(each.id) for each in pinned.includes["users"]]
        same(client.remove_list_member(id, member, **form).data, {"is_member": False})
        same(client.unpin_list(id, **form).data, {"pinned": False})
        same(client.update_list(id, description="Test List Description", **form).data, {"updated": True})
        same(client.get_list(id, list_fields="description", **form).data.description, "Test List Description")
        assert id in [str(each.id) for each in client.get_owned_lists(settings["ada"], **form).data]
        same(client.update_list(id, private=False, **form).data, {"updated": True})
        same(client.follow_list(id, **form).data, {"following": True})
        assert id in [str(each.id) for each in client.get_followed_lists(settings["ada"], **form).data]
        same(client.unfollow_list(id, **form).data, {"following": False})
        same(client.add_list_member(id, member, **form).data, {"is_member": True})
        same(str(client.get_list_memberships(member, **form).data[0].id), id)
        same(client.delete_list(id, **form).data, {"deleted": True})
        refusal = refused(tweepy.NotFound, client.delete_list, id, **form)
        assert id in refusal.api_errors[0]["detail"]


def refusals():
    wrong = {**secrets, "accessTokenSecret": "wrong"}
    for client, form in [(connect(bearer="unknown"), False), (connect(wrong), True)]:
        same(refused(tweepy.Unauthorized, client.get_me, user_auth=form).api_messages, ["Unauthorized"])
    reading = connect(reader)
    refused(tweepy.Forbidden, reading.create_tweet, text="no")
    same(str(reading.get_tweet(needles[0], user_auth=True).data.id), needles[0])
    refusal = refused(tweepy.Forbidden, app.create_tweet, text="no", user_auth=False)
    assert "OAuth 2.0 Application-Only" in refusal.api_messages[0]
    refusal = refused(tweepy.BadRequest, app.search_recent_tweets, "needle", max_results=1)
    assert "max_results" in refusal.api_messages[0]
    answer = app.get_tweets([needles[0], "1"])
    same([str(each.id) for each in answer.data], needles[:1])
    same([(each["resource_type"], each["resource_id"]) for each in answer.errors], [("tweet", "1")])


def limits():
    def shown(headers):
        return [int(headers[f"x-rate-limit-{name}"]) for name in ("limit", "remaining", "reset")]

    raw = connect(secrets, return_type=requests.Response)
    limit, remaining, reset = shown(raw.get_liked_tweets(settings["ada"], user_auth=True).headers)
    same((limit, remaining), (75, 74))
    assert 890 < reset - time.time() < 910
    for _ in range(74):
        raw.get_liked_tweets(settings["ada"], user_auth=True)
    refusal = refused(tweepy.TooManyRequests, raw.get_liked_tweets, settings["ada"], user_auth=True)
    same(shown(refusal.response.headers), [75, 0, reset])


def allow(url):
    """Allows what a page asks for; the address that leads back to the app."""
    browser = requests.Session()
    browser.trust_env = False
    page = browser.get(re.sub(r"https://(api\.)?twitter\.com", settings["baseUrl"], url)).text
    action = re.search(r'action="([^"]+)"', page)[1]
    form = {"form_token": re.search(r'name="form_token" value="([^"]+)"', page)[1], "user": "ada", "decision": "allow"}
    answer = browser.post(settings["baseUrl"] + action, data=form, allow_redirects=False)
    same(answer.status_code, 303)
    return answer.headers["location"]


def here(session):
    """Sends the requests of a session to the sandbox. They are signed later, by what they are sent with."""
    request = session.request
    session.request = lambda method, url, **kwargs: request(
        method, url.replace("https://api.twitter.com", settings["baseUrl"], 1), **kwargs)
    session.trust_env = False
    return session


def logins():
    # Nothing here has TLS.
    os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
    redirect = "http://localhost:8080/callback"
    for client in settings["clients"]:
        login = here(tweepy.OAuth2UserHandler(
            client_id=client["id"],
            client_secret=client.get("secret"),
            redirect_uri=redirect,
            scope=["tweet.read", "users.read", "offline.access"],
        ))
        tokens = login.fetch_token(allow(login.get_authorization_url()))
        same((tokens["token_type"], tokens["expires_in"]), ("bearer", 7200))
        same(str(connect(bearer=tokens["access_token"]).get_me(user_auth=False).data.id), settings["ada"])
        # What its issues advise, as it has no method for it.
        again = login.refresh_token(
            "https://api.twitter.com/2/oauth2/token",
            refresh_token=tokens["refresh_token"],
            **({"auth": login.auth} if login.auth else {"client_id": client["id"]}),
        )
        assert again["refresh_token"] != tokens["refresh_token"]
        same(str(connect(bearer=again["access_token"]).get_me(user_auth=False).data.id), settings["ada"])

    login = tweepy.OAuth1UserHandler(secrets["consumerKey"], secrets["consumerSecret"], callback=redirect)
    here(login.oauth)
    back = allow(login.get_authorization_url(access_type="write"))
    verifier = parse_qs(urlsplit(back).query)["oauth_verifier"][0]
    session = tweepy.auth.OAuth1Session
    # It makes its second session itself.
    tweepy.auth.OAuth1Session = lambda *args, **kwargs: here(session(*args, **kwargs))
    token, secret = login.get_access_token(verifier)
    signed_in = connect({**secrets, "accessToken": token, "accessTokenSecret": secret})
    same(str(signed_in.get_me(user_auth=True).data.id), settings["ada"])


def streams():
    class Listener(tweepy.StreamingClient):
        posts = []
        errors = []

        def on_connect(self):
            signed.create_tweet(text="A needle for the stream ☕", user_auth=True)

        def on_response(self, response):
            self.posts.append((response.data, response.matching_rules, response.includes["users"][0].username))
            self.disconnect()

        def on_request_error(self, status):
            self.errors.append(status)
            self.disconnect()

    listener = Listener(secrets["appToken"])
    listener.session = Redirected()
    listener.session.trust_env = False
    listener.filter()
    same(listener.errors, [409])
    tried = listener.add_rules(tweepy.StreamRule("from:ada"), dry_run=True)
    same((tried.meta["summary"]["created"], listener.get_rules().data), (1, None))
    added = listener.add_rules([
        tweepy.StreamRule("needle lang:und", "needles"),
        tweepy.StreamRule("from:ada"),
        tweepy.StreamRule("("),
    ])
    same([rule.tag for rule in added.data], ["needles", None])
    same(added.meta["summary"], {"created": 2, "not_created": 1, "valid": 2, "invalid": 1})
    listener.filter(tweet_fields=["created_at"], expansions=["author_id"])
    [(post, rules, author)] = listener.posts
    same((post.text, author), ("A needle for the stream ☕", "ada"))
    same(
        [(rule.id, rule.tag) for rule in rules],
        [(added.data[0].id, "needles"), (added.data[1].id, "")],
    )
    same(listener.delete_rules([rule.id for rule in added.data]).meta["summary"]["deleted"], 2)
    assert not listener.get_rules().data


{each.__name__: each for each in (reads, pages, writes, lists, refusals, limits, logins, streams)}[sys.argv[1]]()
