"""What JSON Schema cannot say about right requests: how some are made, and which refusals are right all the same.

Schemathesis loads this module. Nothing here lowers what is checked of an answer: its status, type, headers and body.
"""

import base64
import hashlib
import ipaddress
import json
import re
import time

import schemathesis
from hypothesis import strategies

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@#.:-"
# Lengths at the limits are drawn often: what looks for one of them in vain takes seconds.
TAG = strategies.sampled_from([1, 2, 7, 20, 119, 120, 121]).flatmap(
    lambda length: strategies.text(LETTERS, min_size=length, max_size=length)).filter(
        lambda text: not text.lower().startswith("username:"))


def expressions():
    """Audiences: tags with operators between and brackets around."""
    short = strategies.text(LETTERS, min_size=1, max_size=20)
    return strategies.recursive(short, lambda parts: strategies.one_of(
        strategies.tuples(parts, strategies.sampled_from(["&&", "||"]), parts).map(lambda found: f"({' '.join(found)})"),
        parts.map(lambda part: f"!{part}")), max_leaves=4)


def password(number, length):
    """One that nobody guesses."""
    blocks = (hashlib.sha256(f"{number} {block}".encode()).hexdigest() for block in range(length // 64 + 1))
    return "".join(blocks)[:length]


FORMATS = {
    "tag": TAG,
    "tag-expression": expressions(),
    "password": strategies.builds(password, strategies.integers(), strategies.sampled_from([16, 1023, 1024, 1025])),
    "network": strategies.one_of(
        strategies.ip_addresses().map(str),
        strategies.tuples(strategies.ip_addresses(v=4), strategies.integers(8, 32)).map(
            lambda pair: str(ipaddress.ip_network(pair, strict=False)))),
}
# Lines of an import: good ones, and some that are refused beside them.
ROW = strategies.fixed_dictionaries(
    {"name": strategies.text(LETTERS, min_size=1, max_size=8)},
    optional={"role": strategies.sampled_from(["user", "sender"]), "tags": strategies.lists(TAG, max_size=3)})
FORMATS["rows"] = strategies.lists(ROW, max_size=5).map(lambda rows: "".join(json.dumps(row) + "\n" for row in rows))
# Times and rules of schedules that are due.
FORMATS["local-time"] = strategies.tuples(strategies.integers(2, 700), strategies.integers(0, 86_399)).map(
    lambda pair: time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(int(time.time()) // 86_400 * 86_400 + pair[0] * 86_400 + pair[1])))
ZONES = ["UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Apia", "Etc/GMT+5"]
FORMATS["time-zone"] = strategies.sampled_from(ZONES + ["device"])
FORMATS["fallback-zone"] = strategies.sampled_from(ZONES)
FORMATS["recurrence"] = strategies.tuples(
    strategies.sampled_from(["DAILY", "WEEKLY", "MONTHLY", "YEARLY"]), strategies.sampled_from(["", ";INTERVAL=3", ";BYMONTH=2,12"]),
    strategies.sampled_from(["", ";COUNT=5", ";WKST=SU"])).map(lambda parts: "FREQ=" + "".join(parts))
FORMATS["webhook-url"] = strategies.tuples(
    strategies.sampled_from(["a.example", "b.example:8443", "[2606:4700::1111]"]), strategies.sampled_from(["", "/", "/events?x=1"])
).map(lambda parts: "https://" + "".join(parts))
# Which field of which schema has which of these.
PLACES = {
    ("SendRequest", "audience"): "tag-expression",
    ("AudienceQuestion", "audience"): "tag-expression",
    ("ActivityRequest", "audience"): "tag-expression",
    ("NewUser", "password"): "password",
    ("UserChange", "password"): "password",
    ("ScheduleRequest", "localTime"): "local-time",
    ("ScheduleRequest", "timeZone"): "time-zone",
    ("ScheduleRequest", "fallbackTimeZone"): "fallback-zone",
    ("ScheduleRequest", "repeat"): "recurrence",
    ("NewWebhook", "url"): "webhook-url",
}
# Refusals of requests that fit the schema: rules between fields, and such as no pattern holds.
RIGHT_REFUSALS = [
    "'pns' and 'to_tag' go with a message alone",
    "a message alone needs the query parameters 'pns' and 'to_tag'",
    "the body: expected a string, the message to send",
    "a signing key needs the bundle id of the app as well",
    "a report names at most 62 tokens and activities",
    # What belongs to the one platform and not to the other.
    "handle: a device token is",
    "environment: an Android device has none",
    "topic: an Android device has none",
    "topic: a bundle id has",
    "after: a cursor is the next of the page before",
    "alert: it must be a title and a body: iOS drops a start by push without them",
    "attributes: it must be an object without clarion",
    "audience: a service key has no devices of its own",
    "audience: the tag expression is too long",
    "before: a cursor is the number of a notification",
    "before: with since or until, a cursor is the next of the page before",
    "certificate: it is Base64",
    "contentId, link and coupon: at most one of them makes the content",
    "contentId: it must be present for this kind",
    "coupon: it must be present for kind coupon",
    "dismissAt: it must come with",
    "dismissAt: it must be milliseconds since 1970, at most four hours ahead",
    "description: at most 200 characters on one line",
    "event, since: give one of them",
    "events: * alone, or some of",
    "except: it must be absent without repeat",
    "except: it must be at most 100 dates",
    "expiresAfterSeconds: it must be absent beside notification.expiresAt",
    "expiresAt: a moment within the next five years",
    "expiresAt: it must be a moment in the future",
    # Numbers of the app's own that do not fit into 64 bits.
    "field 'attributes.",
    "field 'state.",
    "field 'contentId' and the part 'content' exclude each other",
    "field 'thumbId' and the part 'thumb' exclude each other",
    "frequencyCap: the setting frequency-caps has none",
    "id: it must be absent unless the kind is sealed",
    "id: it must be the number that the envelope is sealed under",
    "key and certificate: give one of them",
    "key: it needs keyId and teamId",
    "keyId and teamId: they belong to a signing key",
    "kind: it must be another than text when there is content",
    "kind: it must be coupon when there is a coupon",
    "kind: it must be url when there is a link",
    "link: it must be present for kind url",
    "link: it must be an absolute https address",
    "localTime: it must be a moment in the future",
    "localTime: it must be at most two years ahead",
    "message: it must be 1 to 2000 characters",
    "message: it must be empty for kind sealed",
    "defaults: there is no place for",
    "defaults: '",
    "notification: a template has no audience",
    "notification.expiresAt: with repeat, use expiresAfterSeconds",
    "notification.kind: what is sealed cannot be scheduled",
    "password: it belongs to a certificate",
    "preview: it must be neutral for kind sealed",
    "query parameter 'confirm': the name of the hub, as in the path",
    "quietHours: two different times in half hours",
    "sendAt: it must be absent where localTime, timeZone, fallbackTimeZone, repeat or except is given",
    "sendAt: it must be present, or localTime with timeZone",
    "staleAt: it must be milliseconds since 1970, at most a year ahead",
    "staleAt: it must be a moment in the future",
    "state: it must be an object without clarion",
    "sound: it must be the name of a sound file of the app, at most 64 bytes",
    "style: a silent push carries neither sound nor badge",
    "the body: it must have a state, an alert, staleAt, relevance, or",
    "the certificate cannot be read",
    "the file is neither PEM nor PKCS #12",
    "the signing key: ",
    "template: the value",
    "template.values: there is no place for",
    "the topic is not a bundle id",
    "thread: it must be 1 to 64 bytes",
    "timeZone: it must be present beside localTime",
    "thumbId: kind text has no content",
    "until: it lies before since",
    "user, send: the name of a user is needed, and either a send or an activity",
    "users: 1 to 20 different user names",
    "sendAt: it must be a moment in the future",
    "sendAt: it must be at most two years ahead",
    "split.groups: together they have more than a hundred percent",
    "translations: the group",
]
# A text of white space alone, a mark that turns the direction of writing, a letter of no alphabet; and bytes that are no file of their
# type, for the types that no sample below is of.
RIGHT_ENDINGS = ["it must be more than white space", "it must be another than those before", "none of them a control or a direction mark", "or send:PREFIX",
    "it must be the name of a group of split", "it must be a language tag such as pt-BR"]
RIGHT_CODES = ["unsupported-content"]
# The smallest files of some types.
SAMPLES = {
    "image/png": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==",
    "image/gif": "R0lGODdhAQABAIEAAAAAAAAAAAAAAAAAACwAAAAAAQABAAAIBAABBAQAOw==",
    "image/webp": "UklGRhoAAABXRUJQVlA4TA4AAAAvAAAAAAcQEf0PRET/Aw==",
}
# The callers of the test: nothing is done to them, since all that comes later is called by them.
CALLERS = ["administrator-of-this-test", "@api-description"]


@schemathesis.hook
def before_load_schema(context, raw_schema):
    schemas = raw_schema["components"]["schemas"]
    for (name, field), form in PLACES.items():
        schemas[name]["properties"][field]["format"] = form
    schemas["Tag"]["format"] = "tag"
    schemas["NewServiceKey"]["properties"]["networks"]["items"]["format"] = "network"
    upload = raw_schema["paths"]["/api/v1/content"]["post"]["requestBody"]["content"]
    upload["text/plain"]["schema"] = {"type": "string", "minLength": 1}
    for media_type in SAMPLES:
        upload[media_type]["schema"] = {"type": "string", "format": media_type}
    rows = raw_schema["paths"]["/api/v1/user-imports"]["post"]["requestBody"]["content"]["application/x-ndjson"]
    rows["schema"] = {"type": "string", "format": "rows"}
    form = raw_schema["paths"]["/api/v1/notifications"]["post"]["requestBody"]["content"]["multipart/form-data"]["schema"]
    for part in ("content", "thumb"):
        form["properties"][part] = {"type": "string", "format": "image/png"}
    schemas["ScheduleRequest"]["properties"]["localTime"].pop("pattern")
    for name in ("SendRequest", "NewServiceKey"):
        schemas[name]["properties"]["expiresAt"]["minimum"] = int(time.time()) * 1_000


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    return value if isinstance(value, (str, bytes)) else json.dumps(value)


@schemathesis.hook
def map_case(context, case):
    operation = case.operation.definition.raw.get("operationId")
    # Two of these with one value and different bodies are refused, so the values of the examples become many.
    mark = hashlib.sha256(repr((case.body, case.query)).encode()).hexdigest()[:16]
    if operation == "createKey" and isinstance(case.body, dict) and case.body.get("name") == "shop":
        case.body = {**case.body, "name": "shop-" + mark}
    if operation == "send":
        if case.headers and case.headers.get("Idempotency-Key") == "order-4711-shipped":
            case.headers["Idempotency-Key"] = mark
        # What only goes with a message alone.
        if not isinstance(case.body, str) and case.query:
            case.query = {name: value for name, value in case.query.items() if name not in ("pns", "to_tag")}
    if operation in ("createSchedule", "changeSchedule") and isinstance(case.body, dict):
        # It is due by a moment or by the clocks of a zone, and not by both. Another zone goes with the clocks of devices alone.
        clocks = ("localTime", "timeZone", "fallbackTimeZone", "repeat", "except") if case.body.get("sendAt") is not None else ()
        others = ("fallbackTimeZone",) if case.body.get("timeZone") != "device" else ()
        case.body = {name: value for name, value in case.body.items() if name not in clocks + others}
    return case


@schemathesis.hook
def before_call(context, case, **kwargs):
    if str((case.path_parameters or {}).get("name")).lower() in CALLERS:
        case.path_parameters["name"] = "another-user"


@schemathesis.hook
def filter_failure(context, failure, case, response):
    # The brake on failed sign-ins refuses invented credentials too.
    if "ignored_auth" in failure.checks:
        return "got `429 Too Many Requests`" not in failure.message
    # A request about a caller was turned to a user that nothing created.
    if (case.path_parameters or {}).get("name") == "another-user" and "just created" in failure.message:
        return False
    # A user is there from the start, and a second factor only when the user has set one up.
    if "just created" in failure.message and b"the user has no second factor" in response.content:
        return False
    # Each line of an import has its own answer.
    if "negative_data_rejection" in failure.checks and case.path == "/api/v1/user-imports":
        return response.headers.get("content-type") != ["application/x-ndjson"]
    if "positive_data_acceptance" not in failure.checks:
        return True
    try:
        problem = json.loads(response.content)
    except ValueError:
        return True
    # What is wrong with a translation is what would be wrong with the request.
    detail = re.sub(r"^translations\[\d+\]: ", "", problem.get("detail", ""))
    is_right = detail.startswith(tuple(RIGHT_REFUSALS)) or detail.endswith(tuple(RIGHT_ENDINGS))
    return not is_right and problem.get("code") not in RIGHT_CODES


for name, strategy in FORMATS.items():
    schemathesis.openapi.format(name, strategy)
for name, sample in SAMPLES.items():
    schemathesis.openapi.format(name, strategies.just(base64.b64decode(sample)))
