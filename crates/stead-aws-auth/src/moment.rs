//! Times as AWS writes them: `20150830T123600Z` in signatures, RFC 3339 in answers, RFC 9110 in the header `Date`.

use stead_world::Timestamp;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Returns the time as signatures write it. The first eight characters are the date.
pub(crate) fn amz_date(now: Timestamp) -> String {
    now.to_string().replace(['-', ':'], "")
}

/// Reads `2026-11-18T04:05:06Z`, with a fraction of a second or an offset, or `UTC` instead of `Z`.
pub fn rfc3339(text: &str) -> Option<Timestamp> {
    let (date, time) = text.trim().split_once(['T', ' '])?;
    let mut date = date.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let at = time.find(['Z', 'z', 'U', '+', '-']).unwrap_or(time.len());
    let (clock, zone) = time.split_at(at);
    let clock = clock.split('.').next()?;
    let seconds = seconds_of(clock)? - offset(zone)?;
    at_date(year, month, day, seconds)
}

/// Reads `Wed, 18 Nov 2026 04:05:06 GMT`.
pub fn http_date(text: &str) -> Option<Timestamp> {
    let mut words = text.split_once(", ")?.1.split(' ');
    let day = words.next()?.parse().ok()?;
    let name = words.next()?;
    let month = MONTHS.iter().position(|month| *month == name)? as i64 + 1;
    let year = words.next()?.parse().ok()?;
    at_date(year, month, day, seconds_of(words.next()?)?)
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
fn at_date(year: i64, month: i64, day: i64, seconds: i64) -> Option<Timestamp> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_answers_are_read() {
        let time = Timestamp(1_799_999_999_000);
        for text in [
            "2027-01-15T07:59:59Z",
            "2027-01-15T07:59:59UTC",
            "2027-01-15T07:59:59.250Z",
            "2027-01-15T09:59:59+02:00",
            "2027-01-15T02:59:59-0500",
        ] {
            assert_eq!(rfc3339(text), Some(time), "{text}");
        }
        assert_eq!(http_date("Fri, 15 Jan 2027 07:59:59 GMT"), Some(time));
        for text in ["", "2027", "2027-13-01T00:00:00Z", "2027-01-15T25:00:00Z", "1969-01-01T00:00:00Z"] {
            assert_eq!(rfc3339(text), None, "{text}");
        }
        assert_eq!(http_date("15 Jan 2027"), None);
    }

    proptest::proptest! {
        #[test]
        fn printed_times_are_read_again(seconds in 0u64..200_000_000_000) {
            let time = Timestamp(seconds * 1000);
            proptest::prop_assert_eq!(rfc3339(&time.to_string()), Some(time));
        }
    }
}
