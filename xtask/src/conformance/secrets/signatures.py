"""Generates requests, and signs them with botocore. Prints one request with its signature per line, as JSON."""

import datetime
import json
import random
import string
import sys
from urllib.parse import quote

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

rng = random.Random(20261118)
TEXT = string.ascii_letters + string.digits + " -._~!*'();:@&=+$,/?[]%\"<>\\^`{|}#äሴ😀"


def text(most, letters=TEXT):
    return "".join(rng.choice(letters) for _ in range(rng.randint(0, most)))


def path(s3):
    parts = [quote(text(8), safe="-._~") for _ in range(rng.randint(0, 4))]
    # botocore signs a path of S3 as it is sent; a path of dots is normalised by every other service.
    if not s3 and rng.random() < 0.2:
        parts.insert(rng.randint(0, len(parts)), rng.choice([".", "..", ""]))
    return "/" + "/".join(parts) + rng.choice(["", "", "/"])


def query():
    fields = [(quote(text(6) or "k", safe="-._~"), quote(text(8), safe="-._~")) for _ in range(rng.randint(0, 4))]
    return "&".join(f"{name}={value}" for name, value in fields)


for number in range(int(sys.argv[1])):
    s3 = number % 5 == 0
    now = datetime.datetime(2026, 1, 1) + datetime.timedelta(seconds=rng.randint(0, 30_000_000))
    botocore.auth.get_current_datetime = lambda remove_tzinfo=True: now
    service = "s3" if s3 else rng.choice(["kms", "sts", "cloudcontrolapi", "execute-api"])
    region = rng.choice(["us-east-1", "eu-central-1", "cn-north-1", "us-gov-west-1"])
    host = rng.choice([f"{service}.{region}.amazonaws.com", "127.0.0.1:4566", "h:443", "h:80"])
    url = f"{rng.choice(['https', 'http'])}://{host}{path(s3)}"
    fields = query()
    url += f"?{fields}" if fields else ""
    headers = [("Content-Type", "application/x-amz-json-1.1")] if rng.random() < 0.7 else []
    headers += [("X-Amz-" + (text(6, string.ascii_letters) or "A"), text(10, string.ascii_letters + "  ,;=")) for _ in range(rng.randint(0, 3))]
    headers += [("User-Agent", "a")] if rng.random() < 0.3 else []
    headers = list({name.lower(): (name, value) for name, value in headers}.values())
    method = rng.choice(["GET", "POST", "PUT", "DELETE", "HEAD", "PATCH"])
    body = "" if method in ("GET", "HEAD") else text(60)
    secret = "".join(rng.choice(string.ascii_letters + string.digits + "+/") for _ in range(40))
    token = text(60, string.ascii_letters + "+/=") or None if rng.random() < 0.5 else None
    request = AWSRequest(method=method, url=url, headers=dict(headers), data=body.encode())
    signer = (botocore.auth.S3SigV4Auth if s3 else botocore.auth.SigV4Auth)(Credentials("AKID", secret, token), service, region)
    if s3:
        # Without this, botocore leaves the body of an https request unsigned.
        request.context["client_config"] = type("C", (), {"s3": {"payload_signing_enabled": True}})()
    signer.add_auth(request)
    print(json.dumps({
        "method": method, "url": url, "headers": headers, "body": body, "id": "AKID", "secret": secret, "token": token,
        "service": service, "region": region, "time": now.isoformat() + "Z", "s3": s3,
        "expected": request.headers["Authorization"],
    }))
