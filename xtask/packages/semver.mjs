import semver from "semver";
import { satisfies, Range } from "semver";
export const result = [
  semver.valid("1.2.3-beta.1+x"), satisfies("1.2.9", "^1.2.0 || >=3"), semver.inc("1.2.3", "minor"), semver.sort(["2.0.0", "1.10.0", "1.9.0"]),
  semver.maxSatisfying(["1.2.3", "1.3.0", "2.0.0"], "~1"), semver.coerce("v12.4-x").version, semver.diff("1.0.0", "1.1.0"), new Range(">=1 <3").range,
  semver.minVersion("^0.2.1").version, semver.parse("bad"), semver.compare("1.0.0-a", "1.0.0"), semver.intersects("^1", ">=1.5"),
];
