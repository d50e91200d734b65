"""Sends with four more APNs clients, unchanged but for host and port, to a running `clarion emulator`.

Usage: SSL_CERT_FILE=<authority.pem> other_clients.py <APNs port> <admin address> <folder of the emulator>
These clients have no parameter for a trusted root, so Python's variable SSL_CERT_FILE names it (pyapns-client has one).
Exits with 0 when every answer was the expected one.
"""

import asyncio
import sys

from aioapns_client import KEY_ID, TEAM_ID, TOPIC, administer, expect, token


def apns2(port, folder):
    from apns2.client import APNsClient, Notification
    from apns2.credentials import TokenCredentials
    from apns2.payload import Payload

    APNsClient.SANDBOX_SERVER, APNsClient.ALTERNATIVE_PORT = "localhost", port
    credentials = TokenCredentials(f"{folder}/AuthKey_{KEY_ID}.p8", KEY_ID, TEAM_ID)
    client = APNsClient(credentials, use_sandbox=True, use_alternative_port=True)

    def send(device_token):
        answers = client.send_notification_batch([Notification(device_token, Payload(alert="hello"))], TOPIC)
        answer = answers[device_token]
        return answer[0] if isinstance(answer, tuple) else answer

    return send


def kalyke(port, folder):
    from kalyke import ApnsClient, ApnsConfig

    class LocalClient(ApnsClient):
        _base_url = f"https://localhost:{port}"

    client = LocalClient(
        use_sandbox=True, team_id=TEAM_ID, auth_key_id=KEY_ID, auth_key_filepath=f"{folder}/AuthKey_{KEY_ID}.p8"
    )

    def send(device_token):
        payload = {"aps": {"alert": "hello"}}
        try:
            asyncio.run(client.send_message(device_token, payload, ApnsConfig(topic=TOPIC)))
        except Exception as error:
            return type(error).__name__
        return "Success"

    return send


def pyapns(port, folder):
    from pyapns_client import APNSClient, IOSNotification, IOSPayload, IOSPayloadAlert

    APNSClient.BASE_URLS[APNSClient.MODE_DEV] = f"https://localhost:{port}"
    client = APNSClient(
        mode=APNSClient.MODE_DEV, root_cert_path=f"{folder}/authority.pem", auth_key_path=f"{folder}/AuthKey_{KEY_ID}.p8",
        auth_key_id=KEY_ID, team_id=TEAM_ID,
    )
    notification = IOSNotification(IOSPayload(alert=IOSPayloadAlert(body="hello")), topic=TOPIC)

    def send(device_token):
        try:
            client.push(notification, device_token)
        except Exception as error:
            return type(error).__name__.removesuffix("Exception")
        return "Success"

    return send


def simple(port, folder):
    from simple_apns import APNSClient

    APNSClient.ENDPOINT_DEVELOPMENT = f"https://localhost:{port}"
    client = APNSClient(
        team_id=TEAM_ID, auth_key_id=KEY_ID, auth_key_path=f"{folder}/AuthKey_{KEY_ID}.p8", bundle_id=TOPIC, use_sandbox=True
    )

    def send(device_token):
        try:
            client.send_notification(device_token, {"aps": {"alert": "hello"}})
        except Exception as error:
            # This client has one error for both kinds of tokens, with different messages.
            return "Unregistered" if "no longer valid" in str(error) else "BadDeviceToken"
        return "Success"

    return send


def check(name, send, base):
    living, dead = token(base, f"{name}-living"), token(base, f"{name}-dead")
    administer(base, "DELETE", f"/tokens/{dead}")
    administer(base, "DELETE", "/requests")
    expect(f"{name}, living token", send(living), "Success")
    expect(f"{name}, unknown token", send("ab" * 32), "BadDeviceToken")
    expect(f"{name}, dead token", send(dead), "Unregistered")
    expect(f"{name}, after refusals", send(living), "Success")
    requests = administer(base, "GET", "/requests")
    pushes = [each for each in requests if living in each["path"] and each.get("status") == 200]
    expect(f"{name}, pushes that arrived", len(pushes), 2)


def main(port, base, folder):
    administer(base, "PUT", f"/apps/{TOPIC}", {"teamId": TEAM_ID})
    for name, client in {"apns2": apns2, "kalyke": kalyke, "pyapns-client": pyapns, "simple-apns": simple}.items():
        check(name, client(port, folder), base)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2].rstrip("/"), sys.argv[3])
