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

import boto3
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
    application = DomainDispatcherApplication(create_backend_app)
    certificate_path, key_path = certificate(folder)
    plain = serve(application)
    secure = serve(application, (certificate_path, key_path))
    line = {"plain": plain, "secure": secure, "authority": certificate_path, "keys": keys(plain)}
    print(json.dumps(line), flush=True)
    while os.getppid() == parent:
        time.sleep(0.2)
    shutil.rmtree(folder, ignore_errors=True)


main()
