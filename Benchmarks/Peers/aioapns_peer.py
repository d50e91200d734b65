"""Sends pushes with aioapns, as `scripts/bench peers` asks in the environment. Prints what it sent and its memory as JSON."""

import asyncio
import json
import os
import resource
import ssl
import time

from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsDevelopmentClientProtocol


async def sender(client, device, message, numbers, times):
    for _ in numbers:
        begun = time.perf_counter()
        request = NotificationRequest(device_token=device, message=message, push_type=PushType.ALERT, priority=10)
        result = await client.send_notification(request)
        if not result.is_successful:
            raise SystemExit(f"a push was answered {result.status} {result.description}")
        times.append(time.perf_counter() - begun)


async def main():
    count, window = int(os.environ["PEER_COUNT"]), int(os.environ["PEER_WINDOW"])
    APNsDevelopmentClientProtocol.APNS_SERVER = "localhost"
    APNsDevelopmentClientProtocol.APNS_PORT = int(os.environ["PEER_PORT"])
    with open(os.environ["PEER_KEY"]) as file:
        key = file.read()
    context = ssl.create_default_context(cafile=os.environ["PEER_CERTIFICATE"])
    client = APNs(
        key=key, key_id="BENCHKEY00", team_id="BENCHTEAM0", topic="com.example.app", use_sandbox=True, ssl_context=context,
        max_connections=1,
    )
    message = json.loads(os.environ["PEER_BODY"])
    # The callers share one iterator, so that each takes the next push when its last one is answered.
    numbers, times = iter(range(count)), []
    await asyncio.gather(*(sender(client, "0f" * 32, message, numbers, times) for _ in range(window)))
    client.pool.close()
    times.sort()
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"sent": len(times), "resident": resident, "p99": times[len(times) * 99 // 100] * 1000}))


asyncio.run(main())
