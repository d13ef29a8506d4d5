//! How long it takes from sending a message until its webhook is here, measured by nobody but the outside: the number a
//! message is sent to is the time it was sent at, and comes back in the webhook.

use std::time::Duration;

use hdrhistogram::Histogram;

use super::post::ReceivedPost;

/// What such a number begins with, before its nine digits of time.
const FIRST: u64 = 4_917_000_000_000;
/// The digits behind it count milliseconds, and start over after eleven days.
const DIGITS: usize = 9;
const WRAP_MS: u64 = 10_u64.pow(9);
/// Longer ones are counted as this.
const DELAY_MS_MAX: u64 = 3_600_000;

/// The number that says this time.
pub fn clock_number(since_1970: Duration) -> u64 {
    FIRST + u64::try_from(since_1970.as_millis()).unwrap_or(0) % WRAP_MS
}

/// Delays of everything that was sent to such a number.
#[derive(Debug, Clone)]
pub struct Delays(Histogram<u32>);

impl Default for Delays {
    fn default() -> Delays {
        Delays(Histogram::new_with_bounds(1, DELAY_MS_MAX, 3).expect("the bounds are in order"))
    }
}

impl Delays {
    pub(super) fn note(&mut self, post: &ReceivedPost) {
        if let Some(delay) = delay_of(post) {
            self.0.saturating_record(delay.max(1));
        }
    }

    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The delay that so many of a hundred do not exceed.
    pub fn percentile(&self, percent: f64) -> Duration {
        Duration::from_millis(self.0.value_at_percentile(percent))
    }

    pub fn longest(&self) -> Duration {
        Duration::from_millis(self.0.max())
    }
}

/// Read from the octets: parsing every body would cost more than what is measured.
fn delay_of(post: &ReceivedPost) -> Option<u64> {
    const FIELD: &[u8] = b"\"to\":\"+4917";
    let body = &post.body;
    let at = body.windows(FIELD.len()).position(|window| window == FIELD)? + FIELD.len();
    let digits = std::str::from_utf8(body.get(at..at + DIGITS)?).ok()?;
    let sent = digits.parse::<u64>().ok()?;
    let now = u64::try_from(post.at.as_millis()).ok()? % WRAP_MS;
    Some((now + WRAP_MS - sent) % WRAP_MS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn post(at_ms: u64, body: String) -> ReceivedPost {
        ReceivedPost {
            at: Duration::from_millis(at_ms),
            method: "POST".to_owned(),
            path: "/".to_owned(),
            headers: Vec::new(),
            body: Bytes::from(body),
        }
    }

    #[test]
    fn a_number_that_is_a_time_tells_how_long_it_took() {
        let sent = Duration::from_millis(1_794_754_999_999_990);
        let number = clock_number(sent);
        assert_eq!(number, 4_917_999_999_990);
        let body = format!("{{\"batch_id\":\"\",\"to\":\"+{number}\",\"from\":\"Shop\"}}");
        let mut delays = Delays::default();
        delays.note(&post(1_794_755_000_000_015, body));
        delays.note(&post(7, r#"{"to":"+4915112345678"}"#.to_owned()));
        assert_eq!((delays.count(), delays.longest()), (1, Duration::from_millis(25)));
    }
}
