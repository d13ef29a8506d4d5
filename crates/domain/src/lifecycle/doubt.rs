//! Parts in doubt: their submit_sm may have been sent, and no response arrived. The policy of the route or carrier says
//! how often such a part is resent.

use std::time::Duration;

/// How long a part in doubt waits before each resend, as multiples of the first wait: 15 s, 1 min and 5 min by default.
const RESEND_WAITS: [u32; 3] = [1, 4, 20];

named! {
    /// How often a part in doubt is resent.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum DoubtPolicy {
        /// Up to three times, with growing waits: prefers a duplicate to a loss.
        #[default]
        Resend = "resend",
        /// Once.
        ResendOnce = "resend-once",
        /// Never: prefers a loss to a duplicate.
        NeverResend = "never-resend",
    }
}

impl DoubtPolicy {
    /// Returns the maximum number of resends. The store keeps the policy as this number.
    pub const fn resends_max(self) -> u8 {
        match self {
            DoubtPolicy::Resend => 3,
            DoubtPolicy::ResendOnce => 1,
            DoubtPolicy::NeverResend => 0,
        }
    }

    /// Converts the number that the store keeps.
    pub const fn from_resends_max(resends: u8) -> DoubtPolicy {
        match resends {
            0 => DoubtPolicy::NeverResend,
            1 => DoubtPolicy::ResendOnce,
            _ => DoubtPolicy::Resend,
        }
    }
}

/// Returns how long a part waits before it is resent: `first` after its first doubt, longer after each further one.
/// The waits grow for carriers that crash repeatedly under load.
pub fn resend_wait(first: Duration, doubts: u8) -> Duration {
    let index = usize::from(doubts.saturating_sub(1)).min(RESEND_WAITS.len() - 1);
    first.saturating_mul(RESEND_WAITS[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resend_waits_grow_with_each_doubt() {
        let waits = [1, 2, 3, 4].map(|doubts| resend_wait(Duration::from_secs(15), doubts).as_secs());
        assert_eq!(waits, [15, 60, 300, 300]);
        assert_eq!(resend_wait(Duration::MAX, 3), Duration::MAX);
    }

    #[test]
    fn policy_survives_the_store_and_documents() {
        for policy in DoubtPolicy::ALL {
            assert_eq!(DoubtPolicy::from_resends_max(policy.resends_max()), policy);
            let written = serde_json::to_string(&policy).expect("a word");
            assert_eq!(written, format!("\"{}\"", policy.as_str()));
            assert_eq!(serde_json::from_str::<DoubtPolicy>(&written).expect("a policy"), policy);
        }
        assert_eq!(DoubtPolicy::default(), DoubtPolicy::Resend);
    }
}
