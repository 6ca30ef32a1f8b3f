import { DateTime, Duration, Interval, Settings } from "luxon";
// luxon reads the clock to fill in missing parts of a date; a program gives it a fixed time.
Settings.now = () => 0;
const at = DateTime.fromISO("2024-02-28T12:30:45.123Z", { zone: "utc" });
export const result = [
  at.plus({ days: 2, hours: 3 }).toISO(), at.startOf("month").toISODate(), at.toFormat("yyyy-MM-dd HH:mm:ss.SSS"), at.diff(DateTime.utc(2024, 1, 1), ["days", "hours"]).toObject(), Duration.fromISO("P1DT2H").as("hours"),
  Interval.fromDateTimes(at, at.plus({ hours: 5 })).splitBy({ hours: 2 }).length, at.weekday, at.ordinal, at.toMillis(), DateTime.fromFormat("2024/05/17", "yyyy/MM/dd", { zone: "utc" }).toISO(), at.isValid, DateTime.fromISO("bad").isValid,
];
