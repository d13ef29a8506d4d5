//! Unit tests of `audit.rs`.

use super::*;

const KEY: AuditKey = AuditKey([7; 32]);

fn posting(entry: i64) -> AuditPosting {
    AuditPosting { entry, balance: Money::from_micros(5), credit_used: Money::ZERO }
}

fn entry(subject: &str) -> AuditEntry {
    AuditEntry {
        at: Timestamp::from_millis(1_700_000_000_000),
        account: Some(AccountId::new(7)),
        by: "operator".to_owned(),
        from: "192.0.2.1".to_owned(),
        action: "key.update".to_owned(),
        subject: subject.to_owned(),
        detail: "{}".to_owned(),
    }
}

fn is_chain(rows: &[AuditRow]) -> bool {
    let mut end = AuditEnd::EMPTY;
    rows.iter().all(|row| {
        let fits = end.is_before(KEY, row);
        end = row.into();
        fits
    })
}

fn chain() -> Vec<AuditRow> {
    let mut end = AuditEnd::EMPTY;
    let append = |subject: &&str| {
        let row = end.append(KEY, entry(subject), Some(posting(1)));
        end = (&row).into();
        row
    };
    ["one", "two", "three"].iter().map(append).collect()
}

#[test]
fn appended_rows_are_a_chain() {
    assert!(is_chain(&chain()));
    assert_eq!(chain().iter().map(|row| row.number).collect::<Vec<_>>(), [1, 2, 3]);
}

#[test]
fn altered_removed_or_swapped_row_breaks_the_chain() {
    let alterations: [fn(&mut AuditEntry); 7] = [
        |entry| entry.at = Timestamp::from_millis(1),
        |entry| entry.account = None,
        |entry| entry.by.push('x'),
        |entry| entry.from.clear(),
        |entry| entry.action.push('x'),
        |entry| entry.subject.push('x'),
        |entry| entry.detail.push(' '),
    ];
    for alter in alterations {
        let mut rows = chain();
        alter(&mut rows[1].entry);
        assert!(!is_chain(&rows));
    }
    let postings: [Option<AuditPosting>; 3] =
        [None, Some(posting(2)), Some(AuditPosting { balance: Money::from_micros(50), ..posting(1) })];
    for altered in postings {
        let mut rows = chain();
        rows[1].posting = altered;
        assert!(!is_chain(&rows));
    }
    let mut rows = chain();
    rows.remove(1);
    assert!(!is_chain(&rows));
    let mut rows = chain();
    rows.swap(0, 1);
    assert!(!is_chain(&rows));
}

#[test]
fn text_moved_between_fields_changes_the_hash() {
    let (mut one, mut other) = (entry("ab"), entry("a"));
    one.detail = "c".to_owned();
    other.detail = "bc".to_owned();
    let hash = |entry| AuditEnd::EMPTY.append(KEY, entry, None).hash;
    assert_ne!(hash(one), hash(other));
}

#[test]
fn row_and_seal_of_another_key_do_not_fit() {
    let other = AuditKey([8; 32]);
    let row = AuditEnd::EMPTY.append(other, entry("one"), None);
    assert!(AuditEnd::EMPTY.is_before(other, &row) && !AuditEnd::EMPTY.is_before(KEY, &row));
    let end = AuditEnd::from(&row);
    let seal = end.seal(KEY, SealPlace::Database);
    assert_ne!(seal, end.seal(other, SealPlace::Database));
    assert_ne!(seal, end.seal(KEY, SealPlace::File));
    assert_ne!(seal, AuditEnd { number: 2, ..end }.seal(KEY, SealPlace::Database));
    assert_ne!(seal.0, end.hash.0);
}
