"""What JSON Schema cannot say about right requests: how some are made, and which refusals are right all the same.

Schemathesis loads this module. Nothing here lowers what is checked of an answer: its status, type, headers and body.
"""

import ipaddress
import json
import time

import schemathesis
from hypothesis import strategies

WORD = strategies.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@#.:-", min_size=1, max_size=20)
TAG = WORD.filter(lambda text: not text.lower().startswith("username:"))
# A control or direction mark is refused in what stands on one line of a list.
LINE = strategies.text(
    strategies.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=16).map(lambda text: "x" + text)


def expressions():
    """Audiences: tags with operators between and brackets around."""
    pairs = lambda parts: strategies.one_of(
        strategies.tuples(parts, strategies.sampled_from(["&&", "||"]), parts).map(lambda found: f"({' '.join(found)})"),
        parts.map(lambda part: f"!{part}"))
    return strategies.recursive(TAG, pairs, max_leaves=4)


FORMATS = {
    "tag": TAG,
    "tag-expression": expressions(),
    "line": LINE,
    "link": LINE.map(lambda text: "https://example.com/" + text.encode("ascii", "ignore").hex()),
    "password": strategies.integers(10**30, 10**31).map(lambda number: f"{number:x}-river-Canoe"),
    "network": strategies.one_of(
        strategies.ip_addresses().map(str),
        strategies.tuples(strategies.ip_addresses(v=4), strategies.integers(8, 32)).map(
            lambda pair: str(ipaddress.ip_network(pair, strict=False)))),
}
# Which field of which schema has which of these.
PLACES = {
    "SendRequest": {
        "audience": "tag-expression", "title": "line", "subtitle": "line", "message": "line", "altText": "line", "link": "link",
        "thread": "line", "sound": "line"},
    "Coupon": {"code": "line", "headline": "line", "terms": "line"},
    "InstallationUpdate": {"locale": "line", "appVersion": "line", "systemVersion": "line", "timeZone": "line"},
    "Reply": {"text": "line"},
    "NewUser": {"password": "password"},
    "UserChange": {"password": "password"},
}
# Refusals of requests that fit the schema. Each is a rule between fields, or one that names what the server has stored.
RIGHT_REFUSALS = []


def future(schema, seconds=None):
    """A moment that has to lie ahead, at most so many seconds."""
    now = int(time.time())
    schema["minimum"] = (now + 3_600) * 1_000
    if seconds:
        schema["maximum"] = (now + seconds) * 1_000


@schemathesis.hook
def before_load_schema(context, raw_schema):
    schemas = raw_schema["components"]["schemas"]
    for name, fields in PLACES.items():
        for field, form in fields.items():
            schemas[name]["properties"][field]["format"] = form
    schemas["Tag"]["format"] = "tag"
    schemas["NewServiceKey"]["properties"]["networks"]["items"]["format"] = "network"
    future(schemas["SendRequest"]["properties"]["expiresAt"])
    future(schemas["NewServiceKey"]["properties"]["expiresAt"], 5 * 365 * 86_400)


@schemathesis.hook
def filter_failure(context, failure, case, response):
    if "positive_data_acceptance" not in failure.checks:
        return True
    try:
        detail = json.loads(response.content).get("detail", "")
    except ValueError:
        return True
    return not any(detail.startswith(start) for start in RIGHT_REFUSALS)


for name, strategy in FORMATS.items():
    schemathesis.openapi.format(name, strategy)
