//! Counts tests by the output of `cargo test`. The gate reports the sum of the `test result:` lines, one per test binary, so
//! that a test that did not run is not counted.

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) ignored: u64,
}

impl Tally {
    /// Adds a line of test output. Lines other than results are ignored.
    pub(crate) fn add(&mut self, line: &str) {
        let Some((_verdict, counts)) =
            line.strip_prefix("test result: ").and_then(|result| result.split_once(". "))
        else {
            return;
        };
        for count in counts.split(';') {
            match count.trim().split_once(' ') {
                Some((number, "passed")) => self.passed += number.parse().unwrap_or(0),
                Some((number, "failed")) => self.failed += number.parse().unwrap_or(0),
                Some((number, "ignored")) => self.ignored += number.parse().unwrap_or(0),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, expect: (u64, u64, u64)) {
        let mut tally = Tally::default();
        output.lines().for_each(|line| tally.add(line));
        assert_eq!((tally.passed, tally.failed, tally.ignored), expect);
    }

    #[test]
    fn results_of_all_binaries_are_summed() {
        check(
            "running 2 tests\n\
             test a ... ok\n\
             test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
             test result: FAILED. 40 passed; 3 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1s\n",
            (42, 3, 1),
        );
    }

    #[test]
    fn a_test_that_only_talks_about_results_counts_nothing() {
        check("printed: test result: ok. 9 passed; 0 failed;\n9 passed; 0 failed\n", (0, 0, 0));
    }
}
