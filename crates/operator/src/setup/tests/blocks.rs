//! Tests of block entries: blocked prefixes, ranges and lists.

use crate::setup::file_entries::WantedSetup;
use crate::setup::tests::{CUSTOMER, NOW, applied, open, source};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use hermod_gateway::gateway::load_catalogue;

const BLOCKS: &str = "[[block]]\nprefix = \"+4915112345678\"\n\
                      [[block]]\nrange = \"4915100-4915199\"\naccount = \"a\"\ndirection = \"sent\"\nreason = \"Fraud.\"\n\
                      until = 2027-01-01\n\
                      [[block]]\nlist = \"premium-and-satellite\"\ndirection = \"sent\"\n";

#[tokio::test]
async fn block_for_a_number_a_range_or_a_list_applies_until_it_ends_or_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    applied(&store, CUSTOMER).await;
    let created = "+block 4915112345678, +block a/4915100-4915199, +block premium-and-satellite";
    assert_eq!(applied(&store, BLOCKS).await, created);
    let catalogue = load_catalogue(&store).await.unwrap();
    let (account, view) = catalogue.accounts().next().unwrap();
    let end = Timestamp::parse("2027-01-01").unwrap();
    for (number, now, sent, received) in [
        ("+4915112345678", NOW, Some("4915112345678"), true),
        ("+491510012345", NOW, Some("a/4915100-4915199"), false),
        ("+491510012345", end, None, false),
        ("+491520012345", NOW, None, false),
        ("+881612345678", end, Some("premium-and-satellite"), false),
    ] {
        let parsed = Msisdn::parse(number).unwrap();
        assert_eq!(view.block_to(parsed, now), sent, "{number}");
        assert_eq!(catalogue.blocks_mo(parsed, Some(account), now), received, "{number}");
    }
    let changed = "[[block]]\nrange = \"4915100-4915199\"\naccount = \"a\"\nreason = \"\"\n\
                   [[remove]]\nkind = \"block\"\nname = \"+4915112345678\"\n";
    let expect = "~block a/4915100-4915199 (reason \"Fraud.\" -> null), -block 4915112345678";
    assert_eq!(applied(&store, changed).await, expect);
}

#[test]
fn invalid_value_of_a_block_is_rejected_with_a_sentence() {
    for (line, expect) in [
        ("prefix = \"0049\"", "no international number begins with 0"),
        ("prefix = \"+\"", "\"+\" is not a number such as +4915112345678 or its first digits"),
        ("prefix = \"\"", "write \"*\" for every number"),
        ("range = \"4990000\"", "a range is two numbers with - between them, such as 4990000-4990099"),
        ("range = \"4990000-499009\"", "both numbers of a range have the same number of digits"),
        ("range = \"4990099-4990000\"", "the first number of a range is not after the last"),
        ("list = \"satellite\"", "\"satellite\" is no built-in list; there is premium-and-satellite"),
        ("prefix = \"49\"\ndirection = \"in\"", "unknown variant `in`"),
        ("prefix = \"49\"\nuntil = \"soon\"", "\"soon\" is not a day such as 2026-01-31"),
        ("prefix = \"49\"\nreason = \"two\\nlines\"", "a reason has at most 200 characters in one line"),
    ] {
        let refused =
            WantedSetup::parse(&source(&format!("[[block]]\n{line}\n"))).expect_err("it is rejected");
        assert!(refused.to_string().contains(expect), "{line}: {refused}");
    }
}
