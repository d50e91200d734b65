"""An S3 store in memory that checks signatures, for the tests of the content store. It is moto, other people's imitation of Amazon's.

Usage: store.py <folder>
Prints one line of JSON: the ports, the authority of the HTTPS port, and three keys: one that may do everything, one that may only
list, one that was lent with a session token. Ends when the process that started it does.
"""

import datetime
import ipaddress
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
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from moto import settings
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server


def certificate(folder):
    """A certificate for 127.0.0.1 that vouches for itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "store.test")])
    now = datetime.datetime.now(datetime.timezone.utc)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    paths = (os.path.join(folder, "store.pem"), os.path.join(folder, "store.key"))
    with open(paths[0], "wb") as file:
        file.write(made.public_bytes(serialization.Encoding.PEM))
    with open(paths[1], "wb") as file:
        file.write(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
    return paths


class Handler(MotoRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, *_):
        pass


class Links:
    """Checks the signature of links, which moto does not, and hands on what they ask for as a request that is signed."""

    def __init__(self, application, secrets):
        self.application = application
        self.secrets = secrets

    def __call__(self, environ, start_response):
        query = dict(urllib.parse.parse_qsl(environ["QUERY_STRING"], keep_blank_values=True))
        signature = query.pop("X-Amz-Signature", None)
        if signature is None:
            return self.application(environ, start_response)
        key_id, _, region = query["X-Amz-Credential"].split("/")[:3]
        credentials = botocore.credentials.Credentials(key_id, self.secrets[key_id])
        request = self.request(environ, query)
        request.context["timestamp"] = query["X-Amz-Date"]
        link = botocore.auth.S3SigV4QueryAuth(credentials, "s3", region)
        text = link.string_to_sign(request, link.canonical_request(request))
        begin = datetime.datetime.strptime(query["X-Amz-Date"], "%Y%m%dT%H%M%S%z")
        end = begin + datetime.timedelta(seconds=int(query["X-Amz-Expires"]))
        if link.signature(text, request) != signature or end < datetime.datetime.now(datetime.timezone.utc):
            start_response("403 Forbidden", [("Content-Type", "application/xml")])
            return [b"<Error><Code>AccessDenied</Code></Error>"]
        query = {name: value for name, value in query.items() if not name.startswith("X-Amz-")}
        request = self.request(environ, query)
        botocore.auth.S3SigV4Auth(credentials, "s3", region).add_auth(request)
        environ["QUERY_STRING"] = urllib.parse.urlsplit(request.url).query
        for name, value in request.headers.items():
            environ["HTTP_" + name.upper().replace("-", "_")] = value
        return self.application(environ, start_response)

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
    """Makes the keys while nobody is asked for one yet, then asks everybody."""
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
    parent = os.getppid()
    secrets = {}
    application = Links(DomainDispatcherApplication(create_backend_app), secrets)
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
