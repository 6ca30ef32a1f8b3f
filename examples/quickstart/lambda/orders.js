// Takes an order: keeps it, files its receipt and announces it. The clients are part of Lambda's runtime for Node.js.
const { DynamoDBClient, PutItemCommand } = require("@aws-sdk/client-dynamodb");
const { S3Client, PutObjectCommand } = require("@aws-sdk/client-s3");
const { SNSClient, PublishCommand } = require("@aws-sdk/client-sns");
const { randomUUID } = require("node:crypto");

const [orders, receipts, topic] = [new DynamoDBClient(), new S3Client(), new SNSClient()];
const { ORDERS, RECEIPTS, PLACED } = process.env;

exports.handler = async (event) => {
  const id = randomUUID();
  const order = event.body ?? "{}";
  await orders.send(new PutItemCommand({ TableName: ORDERS, Item: { id: { S: id }, order: { S: order } } }));
  await receipts.send(new PutObjectCommand({ Bucket: RECEIPTS, Key: `${id}.json`, Body: order }));
  await topic.send(new PublishCommand({ TopicArn: PLACED, Message: id }));
  return { statusCode: 202, body: JSON.stringify({ id }) };
};
