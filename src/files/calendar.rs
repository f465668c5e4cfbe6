//! Dates and moments as ISO 8601 writes them, by the Gregorian calendar.

const DAY: i64 = 86_400;

/// Seconds since 1970-01-01T00:00 of a date or a date and time: `2026-11-18`, `2026-11-18T09:30`, `2026-11-18 09:30:15.5+01:00`.
///
/// Year first, then month, then day, with `-` or `/` between; a moment without an offset is taken as it is, one with an offset as UTC.
/// `None` for anything else: `03/04/2026` is a day in March or in April.
pub(super) fn moment(text: &str) -> Option<f64> {
    let text = text.trim();
    let (date, rest) = match text.find(['T', 't', ' ']) {
        Some(at) => (&text[..at], Some(text[at + 1..].trim_start())),
        None => (text, None),
    };
    let days = days_of(date)?;
    let seconds = rest.map_or(Some(0.0), time_of_day)?;
    Some((days * DAY) as f64 + seconds)
}

/// A number of at most `digits` digits and nothing else.
fn digits(text: &str, count: std::ops::RangeInclusive<usize>) -> Option<i64> {
    (count.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

fn days_of(date: &str) -> Option<i64> {
    let separator = if date.contains('/') { '/' } else { '-' };
    let mut parts = date.split(separator);
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next().unwrap_or("1"));
    if parts.next().is_some() {
        return None;
    }
    let (year, month, day) = (digits(year, 4..=4)?, digits(month, 1..=2)?, digits(day, 1..=2)?);
    let valid = (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day);
    valid.then(|| days_since_1970(year, month, day))
}

/// Seconds since midnight UTC, or since midnight where no offset is given.
fn time_of_day(text: &str) -> Option<f64> {
    let (clock, offset) = match text.find(['Z', 'z', '+', '-']) {
        Some(at) => (&text[..at], offset(&text[at..])?),
        None => (text, 0),
    };
    let mut parts = clock.trim_end().split(':');
    let (hour, minute) = (digits(parts.next()?, 1..=2)?, digits(parts.next()?, 2..=2)?);
    let second: f64 = match parts.next() {
        None => 0.0,
        Some(text) if text.bytes().all(|b| b.is_ascii_digit() || b == b'.') && text.len() >= 2 => text.parse().ok()?,
        Some(_) => return None,
    };
    let valid = parts.next().is_none() && hour < 24 && minute < 60 && second < 61.0;
    valid.then_some((hour * 3600 + minute * 60 - offset) as f64 + second)
}

/// Seconds east of Greenwich of `Z`, `+01:00`, `-0530` or `+02`.
fn offset(text: &str) -> Option<i64> {
    if text.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let plain = text[1..].replace(':', "");
    let (hours, minutes) = match plain.len() {
        2 => (digits(&plain, 2..=2)?, 0),
        4 if plain.is_ascii() => (digits(&plain[..2], 2..=2)?, digits(&plain[2..], 2..=2)?),
        _ => return None,
    };
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

pub(super) fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01; years are counted in eras of 400 that begin on 1 March, so that leap days come last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Year, month, day, and the seconds since midnight.
pub(super) fn civil(moment: f64) -> (i64, i64, i64, f64) {
    let days = (moment / DAY as f64).floor();
    let second = moment - days * DAY as f64;
    let shifted = days as i64 + 719_468;
    let (era, day) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day + 2) / 153;
    let (date, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    (400 * era + year_of_era + i64::from(month <= 2), month, date, second)
}

/// `2026-11-18`, with the time of day where it is not midnight.
pub(super) fn written(moment: f64) -> String {
    let (year, month, day, second) = civil(moment);
    let date = format!("{year:04}-{month:02}-{day:02}");
    if second == 0.0 {
        return date;
    }
    let (whole, fraction) = (second.floor() as i64, second.fract());
    let fraction = if fraction == 0.0 { String::new() } else { format!("{fraction:.3}")[1..].to_string() };
    format!("{date}T{:02}:{:02}:{:02}{fraction}", whole / 3600, whole / 60 % 60, whole % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_follow_the_calendar_for_eight_centuries() {
        let mut expected = days_since_1970(1600, 1, 1);
        for year in 1600..2400 {
            for month in 1..=12 {
                for day in 1..=days_in_month(year, month) {
                    assert_eq!(days_since_1970(year, month, day), expected);
                    assert_eq!(civil((expected * DAY) as f64), (year, month, day, 0.0));
                    expected += 1;
                }
            }
        }
        assert_eq!(days_since_1970(1970, 1, 1), 0);
        // `date -u -d 2100-03-01 +%s`
        assert_eq!(moment("2100-03-01"), Some(4_107_542_400.0));
    }

    #[test]
    fn moments_are_read_with_their_offset_and_written_back() {
        // From `date -u -d … +%s`.
        assert_eq!(moment("2026-11-18T01:54:45Z"), Some(1_794_966_885.0));
        assert_eq!(moment("2026-11-18 02:54:45.25+01:00"), Some(1_794_966_885.25));
        assert_eq!(moment("2026-11-17T20:24:45-0530"), Some(1_794_966_885.0));
        assert_eq!(moment(" 2026/11/18 "), moment("2026-11-18"));
        assert_eq!(moment("2026-11"), moment("2026-11-01"));
        for text in ["2026-11-18", "1969-12-31T23:59:58", "2000-02-29T10:00:00.250"] {
            assert_eq!(written(moment(text).unwrap()), text);
        }
    }

    #[test]
    fn what_is_no_date_or_could_be_two_is_none() {
        for text in [
            "03/04/2026",
            "2026-13-01",
            "2026-02-29",
            "2026-00-10",
            "26-01-01",
            "2026-1-1-1",
            "2026",
            "tomorrow",
            "2026-01-01T25:00",
            "2026-01-01T10",
            "2026-01-01T10:00+1",
            "2026-01-01T10:61",
            "2026-01-01Tü",
            "2026-01-01T10:00+é1",
            "T",
            "-",
            "",
            "2026-01-01T10:00:1e9",
        ] {
            assert_eq!(moment(text), None, "{text:?}");
        }
        assert!(moment("2024-02-29").is_some());
    }
}
