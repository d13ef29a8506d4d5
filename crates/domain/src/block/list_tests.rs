//! Unit tests of `list.rs`.

use super::*;
use crate::phone::Msisdn;

#[test]
fn every_prefix_of_every_list_is_valid_and_none_is_within_another() {
    for list in NumberList::ALL {
        let prefixes: Vec<Prefix> = list.prefixes().collect();
        for prefix in &prefixes {
            let mut shorter = std::iter::successors(prefix.shorter(), |shorter| shorter.shorter());
            assert!(!prefix.is_empty() && !shorter.any(|shorter| prefixes.contains(&shorter)), "{prefix}");
            assert_eq!(prefixes.iter().filter(|other| *other == prefix).count(), 1, "{prefix}");
        }
        assert_eq!(NumberList::parse(list.as_str()), Some(list));
        assert_eq!(serde_json::to_string(&list).unwrap(), format!("\"{}\"", list.as_str()));
    }
}

#[test]
fn ordinary_mobile_numbers_are_on_no_list() {
    for text in [
        "+12025550123",
        "+31612345678",
        "+32470123456",
        "+33612345678",
        "+34612345678",
        "+351912345678",
        "+358401234567",
        "+36201234567",
        "+393201234567",
        "+40712345678",
        "+41791234567",
        "+420601234567",
        "+436641234567",
        "+447700900123",
        "+447624123456",
        "+4520123456",
        "+46701234567",
        "+4790123456",
        "+48501234567",
        "+4915112345678",
        "+61412345678",
        "+64211234567",
        "+79161234567",
        "+905321234567",
    ] {
        let number = Msisdn::parse(text).unwrap();
        for list in NumberList::ALL {
            assert!(!list.prefixes().any(|prefix| prefix.begins(number)), "{text} is in {}", list.as_str());
        }
    }
}
