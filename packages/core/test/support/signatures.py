"""Prints signatures by Python's hmac. They are in ../fixtures/signatures.json for machines without Python."""
import base64
import hashlib
import hmac
import json


def sign(secret, message):
    digest = hmac.new(secret.encode("utf-8"), message, hashlib.sha256).digest()
    return "sha256=" + base64.b64encode(digest).decode("ascii")


SECRETS = ["secret", "kövés 日本", "x" * 64, "y" * 65, "z" * 100, "quote \" and \\ backslash"]

TOKENS = [
    "challenge-token_0123456789",
    "a+b/c=d-e_f0123456789",
    "0123456789abcdef",
    "A" * 128,
]


def event(uuid, text):
    payload = {"id": "1900000000000000001", "text": text, "author_id": "77"}
    return {"data": {"event_uuid": uuid, "filter": {"user_id": "42"}, "event_type": "post.mention.create", "payload": payload}}


DELIVERIES = [
    json.dumps(event("-3402274206530057", "open?")),
    json.dumps(event("2", "日本 é 👩🏽‍🚀"), ensure_ascii=False),
    json.dumps(event("3", "日本 é 👩🏽‍🚀"), ensure_ascii=True),
    json.dumps(event("4", "spaced"), indent=4) + "\r\n",
    json.dumps(event("5", "a" * 5_000)),
]

MESSAGES = [b"", bytes(range(256)), b"\xff\xfe not UTF-8 \x80", "\ufeff{}".encode("utf-8")]


def row(secret, message):
    return {"secret": secret, "base64": base64.b64encode(message).decode("ascii"), "signature": sign(secret, message)}


print(json.dumps({
    "challenges": [{"secret": s, "token": t, "response_token": sign(s, t.encode("ascii"))} for s in SECRETS for t in TOKENS],
    "deliveries": [row(SECRETS[i % len(SECRETS)], text.encode("utf-8")) for i, text in enumerate(DELIVERIES)],
    "messages": [row(s, m) for s in SECRETS for m in MESSAGES],
}, indent=1))
