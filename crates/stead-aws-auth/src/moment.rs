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
    Timestamp::of_rfc3339(text)
}

/// Reads `Wed, 18 Nov 2026 04:05:06 GMT`.
pub fn http_date(text: &str) -> Option<Timestamp> {
    let mut words = text.split_once(", ")?.1.split(' ');
    let day = words.next()?.parse().ok()?;
    let name = words.next()?;
    let month = MONTHS.iter().position(|month| *month == name)? as i64 + 1;
    let year = words.next()?.parse().ok()?;
    Timestamp::of_date(year, month, day, words.next()?)
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
