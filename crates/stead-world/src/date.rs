//! Times of the calendar, as texts and headers have them.

use crate::Timestamp;

impl Timestamp {
    /// Reads `2026-11-18T04:05:06Z`, with a fraction of a second or an offset, or `UTC` instead of `Z`. Fractions are dropped.
    pub fn of_rfc3339(text: &str) -> Option<Timestamp> {
        let (date, time) = text.trim().split_once(['T', ' '])?;
        let mut date = date.split('-').map(|part| part.parse::<i64>().ok());
        let (year, month, day) = (date.next()??, date.next()??, date.next()??);
        let at = time.find(['Z', 'z', 'U', '+', '-']).unwrap_or(time.len());
        let (clock, zone) = time.split_at(at);
        let clock = clock.split('.').next()?;
        at_second(year, month, day, seconds_of(clock)? - offset(zone)?)
    }

    /// Returns a time of a day in UTC; `clock` is a text such as `04:05:06`.
    pub fn of_date(year: i64, month: i64, day: i64, clock: &str) -> Option<Timestamp> {
        at_second(year, month, day, seconds_of(clock)?)
    }
}

fn seconds_of(clock: &str) -> Option<i64> {
    let mut parts = clock.split(':').map(|part| part.parse::<i64>().ok());
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    let valid = (0..24).contains(&hour) && (0..60).contains(&minute) && (0..=60).contains(&second);
    valid.then_some(hour * 3600 + minute * 60 + second)
}

/// Returns the seconds of an offset such as `+02:00`.
fn offset(zone: &str) -> Option<i64> {
    let sign = match zone.chars().next() {
        Some('+') => 1,
        Some('-') => -1,
        _ => return Some(0),
    };
    let digits = zone[1..].replace(':', "");
    let number: i64 = digits.parse().ok().filter(|_| digits.len() == 4)?;
    Some(sign * (number / 100 * 3600 + number % 100 * 60))
}

/// Returns a second of a day, by 400-year eras that start on a 1 March.
fn at_second(year: i64, month: i64, day: i64, seconds: i64) -> Option<Timestamp> {
    if !(1970..10_000).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year / 400, year % 400);
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era * 146_097 + day_of_era - 719_468;
    u64::try_from((days * 86_400 + seconds) * 1000).ok().map(Timestamp)
}
