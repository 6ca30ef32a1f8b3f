import { addDays, format, parseISO, differenceInCalendarDays, startOfMonth, formatISO, isBefore, eachDayOfInterval, intervalToDuration, formatDistanceStrict } from "date-fns";
const at = parseISO("2024-02-28T12:00:00Z");
export const result = [
  addDays(at, 2).toISOString(), format(at, "yyyy-MM-dd'T'HH:mm EEEE do MMM"), differenceInCalendarDays(parseISO("2024-03-10"), parseISO("2024-01-01")), startOfMonth(at).toISOString(), formatISO(at), isBefore(at, new Date(0)),
  eachDayOfInterval({ start: at, end: addDays(at, 3) }).length, intervalToDuration({ start: new Date(0), end: new Date(90061000) }), formatDistanceStrict(new Date(0), new Date(3600000)),
];
