import { s3, sqs } from "stead/aws";
const dead = new sqs.Queue({}, { id: "dead" });
new sqs.Queue(
  { QueueName: "jobs", RedrivePolicy: { deadLetterTargetArn: dead.Arn, maxReceiveCount: 3 } },
  { id: "jobs" },
);
const bucket = new s3.Bucket({}, { id: "uploads" });
export const arn = bucket.Arn;
