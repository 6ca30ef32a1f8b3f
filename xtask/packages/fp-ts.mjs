import { pipe, flow } from "fp-ts/lib/function.js";
import * as O from "fp-ts/lib/Option.js";
import E from "fp-ts/lib/Either.js";
import * as A from "fp-ts/lib/Array.js";
import TE from "fp-ts/lib/TaskEither.js";
export const result = [
  pipe([1, 2, 3], A.map((n) => n * 2), A.filter((n) => n > 2)), pipe(O.some(1), O.map((n) => n + 1), O.getOrElse(() => 0)), pipe(E.tryCatch(() => JSON.parse("{"), () => "bad"), E.fold((e) => e, () => "ok")), flow((x) => x + 1, (x) => x * 2)(3),
  await pipe(TE.right(1), TE.map((n) => n + 1))(), pipe([O.some(1), O.none], A.compact),
];
