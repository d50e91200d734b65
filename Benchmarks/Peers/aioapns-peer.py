"""A peer of scripts/bench peers: sends a push to each device token with aioapns, which the caller has installed.

Usage: python3 aioapns-peer.py, with the variables that Documentation/Benchmarks.md lists.
"""

import asyncio
import json
import os
import ssl
import sys
import time

from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsDevelopmentClientProtocol


async def send(client, tokens, message, times):
    for token in tokens:
        request = NotificationRequest(
            device_token=token.strip(), message=message, push_type=PushType.ALERT, priority=10, time_to_live=0
        )
        began = time.perf_counter()
        result = await client.send_notification(request)
        times.append(time.perf_counter() - began)
        if not result.is_successful:
            sys.exit(f"{result.status} {result.description}")


async def main():
    place = os.environ
    APNsDevelopmentClientProtocol.APNS_SERVER = place["PEER_HOST"]
    APNsDevelopmentClientProtocol.APNS_PORT = int(place["PEER_PORT"])
    with open(place["PEER_KEY"], encoding="ascii") as file:
        key = file.read()
    client = APNs(
        key=key, key_id=place["PEER_KEY_ID"], team_id=place["PEER_TEAM_ID"], topic=place["PEER_TOPIC"], use_sandbox=True,
        ssl_context=ssl.create_default_context(cafile=place["PEER_CERTIFICATE"]),
    )
    times = []
    with open(place["PEER_BODY"], encoding="ascii") as file:
        message = json.load(file)
    with open(place["PEER_TOKENS"], encoding="ascii") as tokens:
        # One iterator for all callers: each takes the next token when its last push is answered.
        await asyncio.gather(*(send(client, tokens, message, times) for _ in range(int(place["PEER_CONCURRENCY"]))))
    client.pool.close()
    print(json.dumps({"p99": sorted(times)[len(times) * 99 // 100] * 1000, "keeps": False}))


asyncio.run(main())
