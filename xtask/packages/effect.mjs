import { Array as Arr, Duration, Effect, HashMap, Option, Result, Schema, pipe } from "effect";
const program = Effect.gen(function* () {
  const a = yield* Effect.succeed(2);
  const b = yield* Effect.sync(() => a * 3);
  return a + b;
});
export const result = [
  Effect.runSync(program),
  Effect.runSync(Effect.result(Effect.fail("x")))._tag,
  pipe(Option.some(3), Option.map((n) => n + 1), Option.getOrElse(() => 0)),
  Schema.decodeUnknownSync(Schema.Struct({ a: Schema.String }))({ a: "5" }),
  Arr.groupBy([1, 2, 3], (n) => (n % 2 ? "o" : "e")),
  Result.isFailure(Result.fail(1)),
  Duration.toMillis(Duration.seconds(2)),
  HashMap.get(HashMap.make(["a", 1]), "a")._tag,
  await Effect.runPromise(Effect.all([Effect.succeed(1), Effect.succeed("x")])),
];
