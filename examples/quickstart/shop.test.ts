// `stead test` runs these offline: each stack is applied to an embedded cloud of its own, in memory.
import { declare, expect, freshStack, test } from "stead/test";

test("receipts are versioned and closed to the public", () => {
  const { inputs } = declare().find("main:aws.s3.Bucket#receipts");
  expect(inputs.VersioningConfiguration).toEqual({ Status: "Enabled" });
  expect(inputs.PublicAccessBlockConfiguration.BlockPublicPolicy).toBe(true);
});

test("the shop comes up as declared, and a second run has nothing to do", () => {
  const shop = freshStack({ env: "prod" });
  const run = shop.apply();
  expect(run).toSucceed();
  expect(run.outputs.url).toMatch(/^https:\/\/\w+\.execute-api\.us-east-1\.amazonaws\.com\/orders$/);

  const [log] = shop.cloud.resources("AWS::Logs::LogGroup");
  expect(log.properties.RetentionInDays).toBe(90);
  const [subscription] = shop.cloud.resources("AWS::SNS::Subscription");
  expect(subscription.properties.Endpoint).toBe(shop.find("main:aws.sqs.Queue#shipping").outputs.Arn);
  expect(shop.plan({ refresh: true })).toChangeNothing();
});

test("new code reaches the function", () => {
  const shop = freshStack();
  shop.apply();
  const run = shop.apply({ files: { "lambda/orders.js": "exports.handler = async () => ({ statusCode: 204 });\n" } });
  expect(run).toSucceed();
  expect(run.steps.map(({ kind, name }) => [kind, name])).toEqual([["update", "main:aws.lambda.Function#orders"]]);
  const { id } = shop.find("main:aws.lambda.Function#orders");
  expect(shop.cloud.model("AWS::Lambda::Function", id!)?.Code.ZipFile).toContain("204");
});

test("a queue that somebody deleted comes back", () => {
  const shop = freshStack();
  shop.apply();
  const queue = shop.find("main:aws.sqs.Queue#shipping");
  shop.cloud.remove("AWS::SQS::Queue", queue.id!);
  expect(shop.plan()).toChangeNothing();                      // the record alone does not tell
  expect(shop.apply({ refresh: true })).toSucceed();
  expect(shop.cloud.resources("AWS::SQS::Queue")).toHaveLength(1);
});

test("a failed run is continued by the next one", () => {
  const shop = freshStack();
  shop.cloud.failNext({ fails: "ServiceLimitExceeded" }, { type: "AWS::Lambda::Function" });
  const failed = shop.apply();
  expect(failed.result).toBe("failed");
  expect(shop.cloud.resources("AWS::Lambda::Function")).toHaveLength(0);
  expect(shop.apply()).toSucceed();
  expect(shop.cloud.resources()).toHaveLength(14);
});
