//! RFC 3339 time in UTC with milliseconds, the one format the ledger needs.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

const MILLIS_A_DAY: u64 = 86_400_000;

/// A moment, to the millisecond; shown and serialized as `2026-11-30T19:18:06.123Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    unix_millis: u64,
}

impl Timestamp {
    /// The present moment.
    pub fn now() -> Self {
        Self::from(SystemTime::now())
    }
}

impl From<SystemTime> for Timestamp {
    /// Moments before 1970 become 1970.
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Self { unix_millis: u64::try_from(since.as_millis()).unwrap_or(u64::MAX) }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil_from_days(self.unix_millis / MILLIS_A_DAY);
        let millis = self.unix_millis % MILLIS_A_DAY;
        let (hour, minute) = (millis / 3_600_000, millis / 60_000 % 60);
        let (second, milli) = (millis / 1000 % 60, millis % 1000);
        write!(formatter, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
    }
}

/// A text that is not a time in the form `2026-11-30T19:18:06.123Z`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("not a time in the form 2026-11-30T19:18:06.123Z")]
pub struct TimestampError;

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        let number = |range: std::ops::Range<usize>| {
            text.get(range).and_then(|digits| digits.parse::<u64>().ok()).ok_or(TimestampError)
        };
        let days = days_from_civil(number(0..4)?, number(5..7)?, number(8..10)?);
        let clock = (number(11..13)? * 60 + number(14..16)?) * 60 + number(17..19)?;
        let days = days.ok_or(TimestampError)?;
        let parsed = Self { unix_millis: days * MILLIS_A_DAY + clock * 1000 + number(20..23)? };
        // What does not print as it was read had a separator or a field out of place.
        if parsed.to_string() == text { Ok(parsed) } else { Err(TimestampError) }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// Howard Hinnant's `civil_from_days` (<https://howardhinnant.github.io/date_algorithms.html>) for days since 1970.
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

/// The inverse, from the same source; `None` before 1970 or for a month that does not exist.
fn days_from_civil(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1..=12).contains(&month) || day == 0 {
        return None;
    }
    let year = year.checked_sub(u64::from(month <= 2))?;
    let (era, year_of_era) = (year / 400, year % 400);
    let shifted_month = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    (era * 146_097 + day_of_era).checked_sub(719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(unix_millis: u64) -> String {
        Timestamp { unix_millis }.to_string()
    }

    #[test]
    fn known_moments_print_as_rfc_3339() {
        assert_eq!(at(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(at(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(at(1_796_066_286_123), "2026-11-30T19:18:06.123Z");
        assert_eq!(at(4_102_444_799_999), "2099-12-31T23:59:59.999Z");
    }

    #[test]
    fn every_day_of_two_centuries_reads_back() {
        for day in 0..73_000 {
            let time = Timestamp { unix_millis: day * MILLIS_A_DAY + 3_723_004 };
            assert_eq!(time.to_string().parse(), Ok(time));
        }
    }

    #[test]
    fn a_text_that_is_no_time_is_refused() {
        for text in ["", "2026-13-01T00:00:00.000Z", "2026-02-30T00:00:00.000Z", "2026-11-30 19:18:06.123Z", "é026"] {
            assert_eq!(text.parse::<Timestamp>(), Err(TimestampError), "{text}");
        }
    }
}
