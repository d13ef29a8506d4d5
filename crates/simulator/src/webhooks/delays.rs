//! The delay from sending a message to its webhook, measured outside the gateway: the recipient's number contains the time of
//! sending and comes back in the webhook.

use std::time::Duration;

use hdrhistogram::Histogram;

/// The first digits of such a number; nine digits of time follow.
const FIRST: u64 = 4_917_000_000_000;
/// The digits count milliseconds and wrap after eleven days.
const DIGITS: usize = 9;
const WRAP_MS: u64 = 10_u64.pow(9);
/// Longer delays count as this one.
const DELAY_MS_MAX: u64 = 3_600_000;

/// Returns the number that contains this time.
pub fn clock_number(since_1970: Duration) -> u64 {
    FIRST + u64::try_from(since_1970.as_millis()).unwrap_or(0) % WRAP_MS
}

/// The delays of all messages to such numbers.
#[derive(Debug, Clone)]
pub struct Delays(Histogram<u32>);

impl Default for Delays {
    fn default() -> Delays {
        Delays(Histogram::new_with_bounds(1, DELAY_MS_MAX, 3).expect("the bounds are in order"))
    }
}

impl Delays {
    /// Adds the delay of a post received at this time since 1970, if its body has such a number.
    pub(super) fn add(&mut self, at: Duration, body: &[u8]) {
        if let Some(delay) = delay_of(at, body) {
            self.0.saturating_record(delay.max(1));
        }
    }

    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The delay that `percent` of all do not exceed.
    pub fn percentile(&self, percent: f64) -> Duration {
        Duration::from_millis(self.0.value_at_percentile(percent))
    }

    pub fn longest(&self) -> Duration {
        Duration::from_millis(self.0.max())
    }
}

/// Searches the octets: parsing every body would cost more than the work that is measured.
fn delay_of(at: Duration, body: &[u8]) -> Option<u64> {
    const FIELD: &[u8] = b"\"to\":\"+4917";
    let start = body.windows(FIELD.len()).position(|window| window == FIELD)? + FIELD.len();
    let digits = std::str::from_utf8(body.get(start..start + DIGITS)?).ok()?;
    let sent = digits.parse::<u64>().ok()?;
    let now = u64::try_from(at.as_millis()).ok()? % WRAP_MS;
    Some((now + WRAP_MS - sent) % WRAP_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delay_is_read_from_the_time_in_the_number() {
        let sent = Duration::from_millis(1_794_754_999_999_990);
        let number = clock_number(sent);
        assert_eq!(number, 4_917_999_999_990);
        let body = format!("{{\"batch_id\":\"\",\"to\":\"+{number}\",\"from\":\"Shop\"}}");
        let mut delays = Delays::default();
        delays.add(Duration::from_millis(1_794_755_000_000_015), body.as_bytes());
        delays.add(Duration::from_millis(7), br#"{"to":"+4915112345678"}"#);
        assert_eq!((delays.count(), delays.longest()), (1, Duration::from_millis(25)));
    }
}
