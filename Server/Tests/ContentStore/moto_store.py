"""An S3 store in memory that checks signatures, for the tests of the content store. It is moto, a mock of Amazon S3.

Usage: moto_store.py <folder> [<number of the process that starts it>]
Prints one line of JSON: the ports, the authority of the HTTPS port, and three keys: one that may do everything, one that may only
list, one that was lent with a session token. Ends when the process that started it does.
"""

import datetime
import hashlib
import io
import json
import os
import shutil
import sys
import threading
import time
import urllib.parse

import boto3
import botocore.auth
import botocore.awsrequest
import botocore.credentials
from moto import settings
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server

# Nothing is left beside the sources.
sys.dont_write_bytecode = True
from certificates import certificate


class Handler(MotoRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, *_):
        pass


def refuse(start_response, status, code):
    start_response(status, [("Content-Type", "application/xml")])
    return [f"<Error><Code>{code}</Code></Error>".encode()]


class Strictness:
    """Checks what moto does not: the signature of links, which are handed on as requests that are signed, the hash of a body, and
    the date of a request."""

    def __init__(self, application, secrets):
        self.application = application
        self.secrets = secrets

    def __call__(self, environ, start_response):
        query = dict(urllib.parse.parse_qsl(environ["QUERY_STRING"], keep_blank_values=True))
        signature = query.pop("X-Amz-Signature", None)
        if signature is None:
            fault = self.fault(environ)
            return refuse(start_response, *fault) if fault else self.application(environ, start_response)
        key_id, _, region = query["X-Amz-Credential"].split("/")[:3]
        credentials = botocore.credentials.Credentials(key_id, self.secrets[key_id])
        request = self.request(environ, query)
        request.context["timestamp"] = query["X-Amz-Date"]
        link = botocore.auth.S3SigV4QueryAuth(credentials, "s3", region)
        text = link.string_to_sign(request, link.canonical_request(request))
        begin = datetime.datetime.strptime(query["X-Amz-Date"], "%Y%m%dT%H%M%S%z")
        end = begin + datetime.timedelta(seconds=int(query["X-Amz-Expires"]))
        if link.signature(text, request) != signature or end < datetime.datetime.now(datetime.timezone.utc):
            return refuse(start_response, "403 Forbidden", "AccessDenied")
        query = {name: value for name, value in query.items() if not name.startswith("X-Amz-")}
        request = self.request(environ, query)
        botocore.auth.S3SigV4Auth(credentials, "s3", region).add_auth(request)
        environ["QUERY_STRING"] = urllib.parse.urlsplit(request.url).query
        for name, value in request.headers.items():
            environ["HTTP_" + name.upper().replace("-", "_")] = value
        return self.application(environ, start_response)

    @staticmethod
    def fault(environ):
        """What is wrong with a request whose signature is in a header, besides that signature."""
        date = environ.get("HTTP_X_AMZ_DATE")
        if date:
            moment = datetime.datetime.strptime(date, "%Y%m%dT%H%M%S%z")
            if abs(datetime.datetime.now(datetime.timezone.utc) - moment) > datetime.timedelta(minutes=15):
                return "403 Forbidden", "RequestTimeTooSkewed"
        promised = environ.get("HTTP_X_AMZ_CONTENT_SHA256")
        if promised and promised != "UNSIGNED-PAYLOAD":
            body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            environ["wsgi.input"] = io.BytesIO(body)
            if hashlib.sha256(body).hexdigest() != promised:
                return "400 Bad Request", "XAmzContentSHA256Mismatch"
        return None

    @staticmethod
    def request(environ, query):
        words = urllib.parse.urlencode(query, quote_via=urllib.parse.quote, safe="-_.~")
        url = f"{environ['wsgi.url_scheme']}://{environ['HTTP_HOST']}{environ['PATH_INFO']}?{words}"
        return botocore.awsrequest.AWSRequest(method=environ["REQUEST_METHOD"], url=url)


def serve(application, tls=None):
    server = make_server("127.0.0.1", 0, application, True, request_handler=Handler, ssl_context=tls)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def keys(port):
    """Makes the keys while the server does not require one yet, then requires them."""
    address = f"http://127.0.0.1:{port}"
    maker = {"aws_access_key_id": "maker", "aws_secret_access_key": "maker", "region_name": "us-east-1", "endpoint_url": address}
    iam = boto3.client("iam", **maker)

    def user(name, actions):
        iam.create_user(UserName=name)
        statement = {"Effect": "Allow", "Action": actions, "Resource": "*"}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        iam.put_user_policy(UserName=name, PolicyName="rights", PolicyDocument=policy)
        key = iam.create_access_key(UserName=name)["AccessKey"]
        return {"id": key["AccessKeyId"], "secret": key["SecretAccessKey"]}

    trust = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"AWS": "*"}}
    role = iam.create_role(
        RoleName="lent", AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [trust]})
    )["Role"]["Arn"]
    rights = {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}
    iam.put_role_policy(
        RoleName="lent", PolicyName="rights", PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [rights]})
    )
    lent = boto3.client("sts", **maker).assume_role(RoleArn=role, RoleSessionName="test")["Credentials"]
    found = {
        "all": user("all", "s3:*"),
        "listing": user("listing", "s3:List*"),
        "lent": {"id": lent["AccessKeyId"], "secret": lent["SecretAccessKey"], "token": lent["SessionToken"]},
    }
    settings.INITIAL_NO_AUTH_ACTION_COUNT = 0
    return found


def main():
    folder = sys.argv[1]
    # The starter passes its process id: after the imports it may have ended, and this process have another parent.
    parent = int(sys.argv[2]) if len(sys.argv) > 2 else os.getppid()
    secrets = {}
    application = Strictness(DomainDispatcherApplication(create_backend_app), secrets)
    certificate_path, key_path = certificate(folder)
    plain = serve(application)
    secure = serve(application, (certificate_path, key_path))
    line = {"plain": plain, "secure": secure, "authority": certificate_path, "keys": keys(plain)}
    secrets.update({key["id"]: key["secret"] for key in line["keys"].values()})
    print(json.dumps(line), flush=True)
    while os.getppid() == parent:
        time.sleep(0.2)
    shutil.rmtree(folder, ignore_errors=True)


main()
