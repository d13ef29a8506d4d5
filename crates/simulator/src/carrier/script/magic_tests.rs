//! Unit tests of `magic.rs`.

use super::*;

#[test]
fn every_magic_number_has_one_rule() {
    let script = Script::new().magic_numbers(Duration::ZERO);
    let rules = [
        script.responses.rules.iter().map(|rule| rule.when.clone()).collect::<Vec<_>>(),
        script.receipts.rules.iter().map(|rule| rule.when.clone()).collect(),
        script.replies.rules.iter().map(|rule| rule.when.clone()).collect(),
    ]
    .concat();
    assert_eq!(rules.len(), MAGIC_NUMBERS.len());
    for MagicNumber { ending, .. } in MAGIC_NUMBERS {
        let matches = |when: &SubmitFilter| when.destination_suffix.as_deref() == Some(ending);
        assert_eq!(rules.iter().filter(|when| matches(when)).count(), 1, "{ending}");
    }
}

#[test]
fn documentation_lists_every_magic_number_and_what_happens() {
    let page = include_str!("../../../../../docs/simulator.md");
    for MagicNumber { ending, outcome } in MAGIC_NUMBERS {
        assert!(page.contains(&format!("| `{ending}` | {outcome} |")), "{ending}: {outcome}");
    }
}
