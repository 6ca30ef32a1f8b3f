import dayjs from "dayjs";
import utc from "dayjs/plugin/utc.js";
import duration from "dayjs/plugin/duration.js";
dayjs.extend(utc);
dayjs.extend(duration);
export const result = [
  dayjs("2024-02-03T10:20:30Z").utc().format("YYYY-MM-DD HH:mm:ss dddd"), dayjs.utc("2024-01-31").add(1, "month").format(), dayjs.utc("2024-03-10").diff(dayjs.utc("2024-01-01"), "day"),
  dayjs.utc("2024-05-17").startOf("week").toISOString(), dayjs.duration(90061000).format("D H:m:s"), dayjs.utc("2024-05-17").isBefore("2025-01-01"), dayjs.utc(0).toJSON(),
];
