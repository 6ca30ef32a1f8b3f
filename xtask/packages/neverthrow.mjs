import { ok, err, Result, ResultAsync, okAsync } from "neverthrow";
const half = (n) => (n % 2 ? err("odd") : ok(n / 2));
export const result = [ok(8).andThen(half).andThen(half).unwrapOr(0), half(3).mapErr((e) => e.length)._unsafeUnwrapErr(), Result.combine([ok(1), ok(2)])._unsafeUnwrap(), (await okAsync(2).map((x) => x + 1)).isOk(), await ResultAsync.fromPromise(Promise.reject(1), (e) => `e${e}`).match((x) => x, (e) => e), Result.fromThrowable(JSON.parse, () => "bad")("{").isErr()];
