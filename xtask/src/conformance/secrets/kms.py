"""Starts moto on a free port, makes keys of KMS with boto3, and prints them. Ends when stdin is closed."""

import json
import sys

import boto3
from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
url = f"http://{host}:{port}"
kms = boto3.client("kms", endpoint_url=url, region_name="eu-west-1", aws_access_key_id="test", aws_secret_access_key="test")
keys = [kms.create_key()["KeyMetadata"] for _ in range(2)]
kms.create_alias(AliasName="alias/prod", TargetKeyId=keys[0]["KeyId"])
print(json.dumps({"url": url, "id": keys[0]["KeyId"], "arn": keys[0]["Arn"], "other": keys[1]["KeyId"]}), flush=True)
sys.stdin.read()
server.stop()
