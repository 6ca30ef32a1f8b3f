import { config } from "stead";
import { s3, sqs } from "stead/aws";

// Every `new` of a resource is something that stead makes, keeps and changes for you.
const uploads = new s3.Bucket({ VersioningConfiguration: { Status: "Enabled" } }, { id: "uploads" });

// `uploads.Arn` exists only once the bucket does; use it like any other string.
const jobs = new sqs.Queue(
  {
    VisibilityTimeout: config.number("timeout") ?? 30,
    Tags: [{ Key: "bucket", Value: uploads.Arn }],
  },
  { id: "jobs" },
);

// What the entry point exports are the outputs of the stack.
export const bucket = uploads.BucketName;
export const queue = jobs.QueueUrl;
