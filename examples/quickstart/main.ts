// A small shop. Orders arrive over HTTP. A function keeps each of them in a table, files its receipt in a bucket and announces it
// on a topic; a queue collects the announcements for shipping.
//
// `stead up` applies this to an embedded cloud: no account, no network. `stead up -t aws` applies the same program to AWS.
import { config, env, inlineCode } from "stead";
import { dynamodb, iam, lambda, logs, s3, sns, sqs } from "stead/aws";
import { HttpEndpoint } from "./http";
import { allow, policy, trust } from "./policies";

const receipts = new s3.Bucket(
  {
    VersioningConfiguration: { Status: "Enabled" },
    PublicAccessBlockConfiguration: {
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    },
  },
  { id: "receipts" },
);

const orders = new dynamodb.Table(
  {
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
    KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
  },
  { id: "orders" },
);

// Everything that is placed is queued for shipping. `shipping.Arn` exists only once the queue does; it is used like any string,
// and stead orders the work.
const placed = new sns.Topic({ DisplayName: "orders placed" }, { id: "placed" });
const shipping = new sqs.Queue({ VisibilityTimeout: config.number("packingTime") ?? 60 }, { id: "shipping" });
const admission = new sqs.QueueInlinePolicy(
  {
    Queue: shipping.QueueUrl,
    PolicyDocument: policy({
      ...allow("sqs:SendMessage", shipping.Arn),
      Principal: { Service: "sns.amazonaws.com" },
      Condition: { ArnEquals: { "aws:SourceArn": placed.TopicArn } },
    }),
  },
  { id: "shipping" },
);
new sns.Subscription(
  { TopicArn: placed.TopicArn, Protocol: "sqs", Endpoint: shipping.Arn, RawMessageDelivery: true },
  { id: "shipping", dependsOn: admission },
);

const log = new logs.LogGroup({ RetentionInDays: env === "prod" ? 90 : 14 }, { id: "orders" });
const role = new iam.Role(
  {
    AssumeRolePolicyDocument: trust("lambda.amazonaws.com"),
    Policies: [
      {
        PolicyName: "orders",
        PolicyDocument: policy(
          allow(["logs:CreateLogStream", "logs:PutLogEvents"], log.Arn),
          allow("dynamodb:PutItem", orders.Arn),
          allow("s3:PutObject", `${receipts.Arn}/*`),
          allow("sns:Publish", placed.TopicArn),
        ),
      },
    ],
  },
  { id: "orders" },
);

// The code is a file of the project. A change of the file is an update of the function.
const handler = new lambda.Function(
  {
    Runtime: "nodejs22.x",
    Handler: "index.handler",
    Role: role.Arn,
    Code: inlineCode("lambda/orders.js"),
    LoggingConfig: { LogGroup: log.LogGroupName },
    Environment: {
      Variables: { ORDERS: orders.TableName, RECEIPTS: receipts.BucketName, PLACED: placed.TopicArn },
    },
  },
  { id: "orders" },
);

const endpoint = new HttpEndpoint("orders", { route: "POST /orders", handler });

export const url = `${endpoint.url}/orders`;
export const queue = shipping.QueueUrl;
export const table = orders.TableName;
export const bucket = receipts.BucketName;
