"""Sends with aioapns, unchanged but for host, port and trusted root, to a running `clarion emulator`.

Usage: aioapns_client.py <APNs port> <admin address> <folder of the emulator>
Exits with 0 when every answer was the expected one.
"""

import asyncio
import json
import ssl
import sys
import urllib.request

from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsDevelopmentClientProtocol

TOPIC = "org.example.foreign"
KEY_ID = "LOCALKEY00"
TEAM_ID = "LOCALTEAM0"


def administer(base, method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        base + path, data=data, method=method, headers={"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        text = answer.read()
    return json.loads(text) if text else None


def token(base, device):
    return administer(base, "POST", f"/devices/{device}/tokens", {"topic": TOPIC})["token"]


async def send(client, device_token, number=0):
    request = NotificationRequest(
        device_token=device_token,
        message={"aps": {"alert": f"hello {number}"}},
        push_type=PushType.ALERT,
        priority=10,
    )
    result = await asyncio.wait_for(client.send_notification(request), timeout=20)
    return f"{result.status} {result.description or ''}".strip()


def expect(what, seen, wanted):
    if seen != wanted:
        sys.exit(f"{what}: expected {wanted!r}, saw {seen!r}")
    print(f"{what}: {seen}")


async def check(client, base, kind):
    device = kind.replace(" ", "-")
    living, dead = token(base, f"{device}-living"), token(base, f"{device}-dead")
    administer(base, "DELETE", f"/tokens/{dead}")
    expect(f"{kind}, living token", await send(client, living), "200")
    expect(f"{kind}, unknown token", await send(client, "ab" * 32), "400 BadDeviceToken")
    expect(f"{kind}, dead token", await send(client, dead), "410 Unregistered")
    expect(f"{kind}, after refusals", await send(client, living), "200")
    # No more streams at a time than were announced: aioapns gives a stream of its own to each request.
    seen = await asyncio.gather(*(send(client, living, number) for number in range(200)))
    expect(f"{kind}, two hundred side by side", sorted(set(seen)), ["200"])


async def main(port, base, folder):
    APNsDevelopmentClientProtocol.APNS_SERVER = "localhost"
    APNsDevelopmentClientProtocol.APNS_PORT = port
    administer(base, "PUT", f"/apps/{TOPIC}", {"teamId": TEAM_ID})
    context = ssl.create_default_context(cafile=f"{folder}/authority.pem")
    with open(f"{folder}/AuthKey_{KEY_ID}.p8") as file:
        key = file.read()
    signing = APNs(
        key=key, key_id=KEY_ID, team_id=TEAM_ID, topic=TOPIC, use_sandbox=True, ssl_context=context
    )
    await check(signing, base, "provider token")

    issued = administer(base, "POST", "/certificates", {"bundleId": TOPIC, "environments": ["sandbox"]})
    with open(f"{folder}/client.pem", "w") as file:
        file.write(issued["certificate"] + "\n" + issued["privateKey"] + "\n")
    context = ssl.create_default_context(cafile=f"{folder}/authority.pem")
    certified = APNs(
        client_cert=f"{folder}/client.pem", topic=TOPIC, use_sandbox=True, ssl_context=context
    )
    await check(certified, base, "client certificate")
    signing.pool.close()
    certified.pool.close()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2].rstrip("/"), sys.argv[3]))
