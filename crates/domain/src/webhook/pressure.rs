//! How hard an endpoint is pressed: posts at a time, which grow while it answers well and quickly, and are cut back when it
//! fails; and the breath that is taken between posts to one that keeps failing, so that nobody's dead server costs work.

use std::time::Duration;

/// Posts at a time to an endpoint of which nothing is known.
pub const POSTS_FIRST: u32 = 4;
/// And to one that answers well.
pub const POSTS_MAX: u32 = 64;
/// An answer that takes longer is none to send more for.
pub const QUICK: Duration = Duration::from_secs(1);
/// The breath after the first failure; it doubles with each one more.
const BREATH_FIRST: Duration = Duration::from_millis(10);
/// The longest breath.
pub const BREATH_MAX: Duration = Duration::from_secs(1);

/// What is known about an endpoint's answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pressure {
    posts: u32,
    /// It has never failed: one more post for each good answer. Afterwards, one more for each round of them.
    untried: bool,
    /// Good answers of this round.
    good: u32,
    /// Failures without a good answer between them.
    failures: u32,
    /// The last answer was good and quick.
    trusted: bool,
}

impl Default for Pressure {
    fn default() -> Pressure {
        Pressure { posts: POSTS_FIRST, untried: true, good: 0, failures: 0, trusted: false }
    }
}

impl Pressure {
    /// Posts that may be under way.
    pub const fn posts(&self) -> u32 {
        self.posts
    }

    /// Nothing, or nothing good, has been heard of it lately.
    pub const fn is_doubtful(&self) -> bool {
        self.failures > 0 || !(self.trusted || self.untried)
    }

    pub fn answered(&mut self, took: Duration) {
        self.failures = 0;
        self.trusted = took <= QUICK;
        if !self.trusted {
            // More at a time would only be more that lingers.
            self.untried = false;
            self.good = 0;
            self.posts = self.posts.saturating_sub(1).max(POSTS_FIRST);
            return;
        }
        self.good += 1;
        if self.untried || self.good >= self.posts {
            self.good = 0;
            self.posts = (self.posts + 1).min(POSTS_MAX);
        }
    }

    pub fn failed(&mut self) {
        self.untried = false;
        self.trusted = false;
        self.good = 0;
        self.failures = self.failures.saturating_add(1);
        self.posts = (self.posts / 2).max(1);
    }

    /// A post takes so long that it is not to be counted on.
    pub fn lingers(&mut self) {
        self.untried = false;
        self.trusted = false;
    }

    /// How long to wait before the next post.
    pub fn breath(&self) -> Duration {
        match self.failures {
            0 => Duration::ZERO,
            failures => BREATH_FIRST.saturating_mul(1 << (failures - 1).min(10)).min(BREATH_MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAST: Duration = Duration::from_millis(5);
    const SLOW: Duration = Duration::from_secs(3);

    /// The posts at a time after each step: `+` a good answer, `~` a slow one, `-` a failure.
    fn told(steps: &str) -> String {
        let mut pressure = Pressure::default();
        let posts: Vec<String> = steps
            .chars()
            .map(|step| {
                match step {
                    '+' => pressure.answered(FAST),
                    '~' => pressure.answered(SLOW),
                    _ => pressure.failed(),
                }
                pressure.posts().to_string()
            })
            .collect();
        posts.join(" ")
    }

    #[test]
    fn it_grows_quickly_until_the_first_failure_and_then_by_one_a_round() {
        assert_eq!(told("+++"), "5 6 7");
        assert_eq!(told("-++++++"), "2 2 3 3 3 4 4");
        let mut pressure = Pressure::default();
        for _ in 0..100 {
            pressure.answered(FAST);
        }
        assert_eq!(pressure.posts(), POSTS_MAX);
    }

    #[test]
    fn failures_halve_it_down_to_one() {
        assert_eq!(told("++++----"), "5 6 7 8 4 2 1 1");
        assert_eq!(told("---"), "2 1 1");
    }

    #[test]
    fn slow_answers_are_no_reason_to_send_more() {
        assert_eq!(told("++~~~~"), "5 6 5 4 4 4");
    }

    #[test]
    fn a_failing_endpoint_is_given_a_growing_breath_until_it_answers() {
        let mut pressure = Pressure::default();
        let mut breaths = vec![pressure.breath().as_millis()];
        for _ in 0..9 {
            pressure.failed();
            breaths.push(pressure.breath().as_millis());
        }
        assert_eq!(breaths, [0, 10, 20, 40, 80, 160, 320, 640, 1_000, 1_000]);
        for _ in 0..100 {
            pressure.failed();
        }
        assert_eq!(pressure.breath(), BREATH_MAX);
        pressure.answered(FAST);
        assert_eq!(pressure.breath(), Duration::ZERO);
    }

    #[test]
    fn only_a_quick_answer_makes_it_trusted_again() {
        let mut pressure = Pressure::default();
        assert!(!pressure.is_doubtful(), "nothing speaks against a new one");
        pressure.failed();
        assert!(pressure.is_doubtful());
        pressure.answered(FAST);
        assert!(!pressure.is_doubtful());
        pressure.answered(SLOW);
        assert!(pressure.is_doubtful());
        pressure.answered(FAST);
        pressure.lingers();
        assert!(pressure.is_doubtful());
    }
}
