"""Drives an embedded cloud with boto3: all eight calls of Cloud Control over thirty types, errors, and STS."""

import json
import sys
import urllib.request

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError, ConnectionClosedError

URL, ACCOUNT, REGION = sys.argv[1], "111122223333", "eu-west-1"
ONCE = Config(retries={"total_max_attempts": 1})


def client(service, account=ACCOUNT, region=REGION, **more):
    keys = {"aws_access_key_id": account, "aws_secret_access_key": "secret", **more}
    return boto3.client(service, endpoint_url=URL, region_name=region, config=ONCE, **keys)


cloud = client("cloudcontrol")
waiter = cloud.get_waiter("resource_request_success")
WAIT = {"Delay": 0, "MaxAttempts": 50}


def control(path, body):
    request = urllib.request.Request(f"{URL}/_stead/{path}", json.dumps(body).encode(), method="POST")
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def create(kind, desired, **more):
    event = cloud.create_resource(TypeName=kind, DesiredState=json.dumps(desired), **more)["ProgressEvent"]
    assert event["Operation"] == "CREATE" and event["TypeName"] == kind, event
    return event


def ended(event):
    return cloud.get_resource_request_status(RequestToken=event["RequestToken"])["ProgressEvent"]


def made(kind, desired):
    event = create(kind, desired)
    waiter.wait(RequestToken=event["RequestToken"], WaiterConfig=WAIT)
    return ended(event)["Identifier"]


def read(kind, identifier):
    found = cloud.get_resource(TypeName=kind, Identifier=identifier)
    assert found["TypeName"] == kind and found["ResourceDescription"]["Identifier"] == identifier
    return json.loads(found["ResourceDescription"]["Properties"])


def changed(kind, identifier, patch):
    event = cloud.update_resource(TypeName=kind, Identifier=identifier, PatchDocument=json.dumps(patch))["ProgressEvent"]
    assert event["Operation"] == "UPDATE" and event["Identifier"] == identifier, event
    waiter.wait(RequestToken=event["RequestToken"], WaiterConfig=WAIT)


def gone(kind, identifier):
    event = cloud.delete_resource(TypeName=kind, Identifier=identifier)["ProgressEvent"]
    waiter.wait(RequestToken=event["RequestToken"], WaiterConfig=WAIT)


def refused(code, call, **parameters):
    try:
        call(**parameters)
    except ClientError as error:
        found = error.response["Error"]["Code"]
        assert found == code, f"{found} instead of {code}: {error}"
        return error.response["Error"]["Message"]
    raise AssertionError(f"{call} was not refused with {code}")


def failed(code, event):
    event = ended(event)
    assert event["OperationStatus"] == "FAILED" and event["ErrorCode"] == code, event
    return event


POLICY = {"Version": "2012-10-17", "Statement": []}
TAG = [{"Key": "stage", "Value": "test"}]
# Type, inputs, and a property to set with its value; None for a type without an update.
TYPES = [
    ("AWS::S3::Bucket", {"BucketName": "logs"}, ("Tags", TAG)),
    ("AWS::SQS::Queue", {"QueueName": "jobs"}, ("DelaySeconds", 5)),
    ("AWS::SNS::Topic", {"TopicName": "news"}, ("DisplayName", "News")),
    ("AWS::IAM::Role", {"RoleName": "worker", "AssumeRolePolicyDocument": POLICY}, ("Description", "works")),
    ("AWS::IAM::User", {"UserName": "ada"}, ("Tags", TAG)),
    ("AWS::IAM::Group", {"GroupName": "staff"}, ("Path", "/staff/")),
    ("AWS::IAM::ManagedPolicy", {"ManagedPolicyName": "read", "PolicyDocument": POLICY}, ("Users", ["ada"])),
    ("AWS::Logs::LogGroup", {"LogGroupName": "/app"}, ("RetentionInDays", 7)),
    ("AWS::KMS::Key", {"KeyPolicy": POLICY}, ("Description", "key")),
    ("AWS::SSM::Parameter", {"Name": "limit", "Type": "String", "Value": "1"}, ("Value", "2")),
    ("AWS::SecretsManager::Secret", {"Name": "password", "SecretString": "canary"}, ("Description", "secret")),
    ("AWS::CloudWatch::Alarm", {"AlarmName": "slow", "ComparisonOperator": "GreaterThanThreshold", "EvaluationPeriods": 1}, ("Threshold", 3)),
    ("AWS::Events::EventBus", {"Name": "bus"}, ("Description", "bus")),
    ("AWS::Events::Rule", {"Name": "nightly", "ScheduleExpression": "rate(1 day)"}, ("Description", "rule")),
    ("AWS::Kinesis::Stream", {"Name": "clicks", "ShardCount": 1}, ("RetentionPeriodHours", 48)),
    ("AWS::DynamoDB::Table", {"TableName": "orders", "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}], "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}], "BillingMode": "PAY_PER_REQUEST"}, ("TableClass", "STANDARD")),
    ("AWS::ECR::Repository", {"RepositoryName": "shop"}, ("ImageTagMutability", "IMMUTABLE")),
    ("AWS::ECS::Cluster", {"ClusterName": "main"}, ("Tags", TAG)),
    ("AWS::EC2::VPC", {"CidrBlock": "10.0.0.0/16"}, ("EnableDnsHostnames", True)),
    ("AWS::EC2::InternetGateway", {}, ("Tags", TAG)),
    ("AWS::EC2::SecurityGroup", {"GroupDescription": "web"}, ("Tags", TAG)),
    ("AWS::EC2::KeyPair", {"KeyName": "pair"}, None),
    ("AWS::ApiGateway::RestApi", {"Name": "api"}, ("Description", "api")),
    ("AWS::ApiGatewayV2::Api", {"Name": "http", "ProtocolType": "HTTP"}, ("Description", "api")),
    ("AWS::Route53::HostedZone", {"Name": "example.com"}, ("HostedZoneConfig", {"Comment": "zone"})),
    ("AWS::Cognito::UserPool", {"UserPoolName": "people"}, ("MfaConfiguration", "OFF")),
    ("AWS::EFS::FileSystem", {}, ("ThroughputMode", "elastic")),
    ("AWS::Scheduler::ScheduleGroup", {"Name": "group"}, ("Tags", TAG)),
    ("AWS::Backup::BackupVault", {"BackupVaultName": "vault"}, ("BackupVaultTags", {"stage": "test"})),
    ("AWS::Athena::WorkGroup", {"Name": "analysts"}, ("Description", "group")),
    ("AWS::CloudFront::OriginAccessControl", {"OriginAccessControlConfig": {"Name": "oac", "OriginAccessControlOriginType": "s3", "SigningBehavior": "always", "SigningProtocol": "sigv4"}}, None),
    ("AWS::StepFunctions::StateMachine", {"StateMachineName": "flow", "RoleArn": "arn:aws:iam::999999999999:role/other", "DefinitionString": "{}"}, ("Tags", TAG)),
]


def every_type_lives():
    for kind, desired, change in TYPES:
        identifier = made(kind, desired)
        before = read(kind, identifier)
        assert "SecretString" not in before, before
        listed = cloud.list_resources(TypeName=kind)
        assert listed["TypeName"] == kind
        assert identifier in [one["Identifier"] for one in listed["ResourceDescriptions"]], listed
        if change:
            name, value = change
            changed(kind, identifier, [{"op": "add", "path": f"/{name}", "value": value}])
            assert read(kind, identifier)[name] == value, name
        gone(kind, identifier)
        refused("ResourceNotFoundException", cloud.get_resource, TypeName=kind, Identifier=identifier)


def errors_are_typed():
    kind, name = "AWS::S3::Bucket", made("AWS::S3::Bucket", {"BucketName": "taken"})
    failed("AlreadyExists", create(kind, {"BucketName": name}))
    failed("NotFound", cloud.delete_resource(TypeName=kind, Identifier="nothing")["ProgressEvent"])
    patch = lambda *operations: {"TypeName": kind, "Identifier": name, "PatchDocument": json.dumps(operations)}
    update = cloud.update_resource
    refused("NotUpdatableException", update, **patch({"op": "replace", "path": "/BucketName", "value": "x"}))
    words = refused("ValidationException", update, **patch({"op": "replace", "path": "/Code", "value": 1}))
    assert words == "[REPLACE Operation] noSuchPath in source, path provided : //Code", words
    refused("ValidationException", update, **patch({"op": "add", "path": "/Arn", "value": "x"}))
    words = refused("ValidationException", update, **patch({"op": "add", "path": "/Tags", "value": "x"}))
    assert words == "Model validation failed (#/Tags: expected type: JSONArray, found: String)", words
    refused("TypeNotFoundException", cloud.get_resource, TypeName="AWS::No::Such", Identifier="x")
    unsupported = {"TypeName": "AWS::CodeBuild::Project", "DesiredState": "{}"}
    refused("UnsupportedActionException", cloud.create_resource, **unsupported)
    refused("ValidationException", cloud.create_resource, TypeName="AWS::IAM::Role", DesiredState="{}")
    refused("InvalidRequestException", cloud.list_resources, TypeName="AWS::EKS::Nodegroup")
    refused("RequestTokenNotFoundException", cloud.get_resource_request_status, RequestToken="none")
    first = create(kind, {"BucketName": "once"}, ClientToken="token-1")
    again = create(kind, {"BucketName": "once"}, ClientToken="token-1")
    assert first["RequestToken"] == again["RequestToken"]
    conflict = {"TypeName": kind, "DesiredState": json.dumps({"BucketName": "twice"}), "ClientToken": "token-1"}
    refused("ClientTokenConflictException", cloud.create_resource, **conflict)
    for bucket in [name, "once"]:
        gone(kind, bucket)


def operations_take_time():
    kind = "AWS::SQS::Queue"
    control("fail-next", {"fault": "slow"})
    slow = create(kind, {"QueueName": "slow"})
    assert slow["OperationStatus"] == "IN_PROGRESS" and "RetryAfter" in slow, slow
    cancelled = cloud.cancel_resource_request(RequestToken=slow["RequestToken"])["ProgressEvent"]
    assert cancelled["OperationStatus"] == "CANCEL_IN_PROGRESS"
    while ended(slow)["OperationStatus"] != "CANCEL_COMPLETE":
        pass
    refused("ConcurrentModificationException", cloud.cancel_resource_request, RequestToken=slow["RequestToken"])
    url = made(kind, {"QueueName": "busy"})
    control("fail-next", {"fault": "slow", "call": "DeleteResource"})
    event = cloud.delete_resource(TypeName=kind, Identifier=url)["ProgressEvent"]
    refused("ConcurrentOperationException", cloud.delete_resource, TypeName=kind, Identifier=url)
    waiter.wait(RequestToken=event["RequestToken"], WaiterConfig=WAIT)
    pages = cloud.get_paginator("list_resource_requests").paginate(
        ResourceRequestStatusFilter={"Operations": ["DELETE"], "OperationStatuses": ["SUCCESS"]}
    )
    found = [one for page in pages for one in page["ResourceRequestStatusSummaries"]]
    assert len(found) > 30 and all(one["Operation"] == "DELETE" for one in found), len(found)


def faults_are_seen_by_the_client():
    for fault, code in [("throttled", "ThrottlingException"), ("unavailable", "ServiceUnavailableException"),
                        ("internal-error", "InternalFailure"), ("expired-token", "ExpiredTokenException")]:
        control("fail-next", {"fault": fault})
        refused(code, cloud.list_resources, TypeName="AWS::SQS::Queue")
    control("fail-next", {"fault": "lost-after", "call": "CreateResource"})
    try:
        create("AWS::SQS::Queue", {"QueueName": "lost"})
        raise AssertionError("the answer was not lost")
    except ConnectionClosedError:
        pass
    url = f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/lost"
    assert read("AWS::SQS::Queue", url)["QueueName"] == "lost"
    gone("AWS::SQS::Queue", url)


def operations_fail_with_the_codes_of_handlers():
    kind = "AWS::SQS::Queue"
    for code in ["AccessDenied", "NetworkFailure", "ResourceConflict", "ServiceInternalError", "Throttling"]:
        control("fail-next", {"fault": {"fails": code}, "call": "CreateResource"})
        event = failed(code, create(kind, {"QueueName": "never"}))
        assert event["StatusMessage"] and "Identifier" not in event, event
    control("fail-next", {"fault": "half-made"})
    half = failed("NotStabilized", create("AWS::EC2::VPC", {"CidrBlock": "10.0.0.0/16"}))
    assert read("AWS::EC2::VPC", half["Identifier"])["CidrBlock"] == "10.0.0.0/16"
    subnet = made("AWS::EC2::Subnet", {"VpcId": half["Identifier"], "CidrBlock": "10.0.1.0/24"})
    failed("ResourceConflict", cloud.delete_resource(TypeName="AWS::EC2::VPC", Identifier=half["Identifier"])["ProgressEvent"])
    failed("InvalidRequest", create("AWS::EC2::Subnet", {"VpcId": "vpc-00000000000000000", "CidrBlock": "10.0.2.0/24"}))
    vpcs = [half["Identifier"]] + [made("AWS::EC2::VPC", {"CidrBlock": f"10.{one}.0.0/16"}) for one in range(1, 5)]
    failed("ServiceLimitExceeded", create("AWS::EC2::VPC", {"CidrBlock": "10.5.0.0/16"}))
    gone("AWS::EC2::Subnet", subnet)
    for vpc in vpcs:
        gone("AWS::EC2::VPC", vpc)


def reads_are_stale_for_a_while():
    kind = "AWS::Logs::LogGroup"
    control("fail-next", {"fault": "stale", "call": "CreateResource"})
    name = made(kind, {"LogGroupName": "stale"})
    for _ in range(2):
        refused("ResourceNotFoundException", cloud.get_resource, TypeName=kind, Identifier=name)
    assert read(kind, name)["LogGroupName"] == "stale"
    gone(kind, name)


def lists_have_pages():
    for number in range(25):
        made("AWS::Logs::LogGroup", {"LogGroupName": f"group-{number:02}"})
    pages = cloud.get_paginator("list_resources").paginate(TypeName="AWS::Logs::LogGroup", PaginationConfig={"PageSize": 10})
    sizes = [len(page["ResourceDescriptions"]) for page in pages]
    assert sizes == [10, 10, 5], sizes
    for number in range(25):
        gone("AWS::Logs::LogGroup", f"group-{number:02}")


def accounts_are_separate():
    sts = client("sts")
    assert sts.get_caller_identity()["Account"] == ACCOUNT
    role = "arn:aws:iam::444455556666:role/deploy"
    keys = sts.assume_role(RoleArn=role, RoleSessionName="session")["Credentials"]
    session = {"aws_secret_access_key": keys["SecretAccessKey"], "aws_session_token": keys["SessionToken"]}
    there = client("sts", keys["AccessKeyId"], **session).get_caller_identity()
    assert there["Account"] == "444455556666" and there["Arn"].endswith("assumed-role/deploy/session"), there
    made("AWS::SQS::Queue", {"QueueName": "mine"})
    other = client("cloudcontrol", keys["AccessKeyId"], **session)
    assert other.list_resources(TypeName="AWS::SQS::Queue")["ResourceDescriptions"] == []
    elsewhere = client("cloudcontrol", region="us-east-1")
    assert elsewhere.list_resources(TypeName="AWS::SQS::Queue")["ResourceDescriptions"] == []
    gone("AWS::SQS::Queue", f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/mine")


for check in [every_type_lives, errors_are_typed, operations_take_time, faults_are_seen_by_the_client,
              operations_fail_with_the_codes_of_handlers, reads_are_stale_for_a_while, lists_have_pages, accounts_are_separate]:
    check()
    print(f"{check.__name__.replace('_', ' ')}", flush=True)
calls = json.load(urllib.request.urlopen(f"{URL}/_stead/calls"))
assert len(calls) == 8 and len(TYPES) >= 30, calls
print(f"{sum(calls.values())} calls of 8 kinds over {len(TYPES)} types, errors included")
