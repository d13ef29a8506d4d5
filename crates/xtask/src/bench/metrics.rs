//! The metrics of a gateway at one moment.

/// The response of `/metrics`.
pub(super) struct Metrics(String);

impl Metrics {
    pub(super) fn new(response: String) -> Metrics {
        Metrics(response)
    }

    /// The sum over all labels; none if the gateway has no such metric.
    pub(super) fn total(&self, name: &str) -> Option<f64> {
        let values = self.0.lines().filter_map(|line| value(line, name));
        values.fold(None, |sum, value| Some(sum.unwrap_or(0.0) + value))
    }

    /// A counter; 0 before it first counts.
    pub(super) fn count(&self, name: &str) -> u64 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a counter is a whole number and not negative"
        )]
        let count = self.total(name).unwrap_or(0.0) as u64;
        count
    }
}

/// The value of a line `name 1` or `name{label="x"} 1`.
fn value(line: &str, name: &str) -> Option<f64> {
    let rest = line.strip_prefix(name)?;
    let is_whole_name = rest.starts_with([' ', '{']);
    if is_whole_name { rest.rsplit(' ').next()?.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESPONSE: &str = "HTTP/1.1 200 OK\r\n\r\n# TYPE hermod_batches_total counter\nhermod_batches_total 12\n\
                            hermod_batches 7\nhermod_syncs_total{file=\"a b\"} 3\nhermod_syncs_total{file=\"c\"} 4.5\n";

    #[test]
    fn metric_is_summed_over_its_labels() {
        let metrics = Metrics::new(RESPONSE.to_owned());
        assert_eq!(metrics.total("hermod_batches_total"), Some(12.0));
        assert_eq!(metrics.total("hermod_batches"), Some(7.0));
        assert_eq!(metrics.total("hermod_syncs_total"), Some(7.5));
        assert_eq!(metrics.total("hermod_sync"), None);
        assert_eq!((metrics.count("hermod_batches_total"), metrics.count("hermod_none")), (12, 0));
    }
}
