//! Tests of how plans of rate sheets are shown.

use super::*;
use hermod_domain::money::Money;
use hermod_operator::rates::views::{RateChange, RowProblemView};
use hermod_operator::views::amount::Amount;

fn amount(text: &str) -> Amount {
    Amount(Money::parse(text).expect("an amount"))
}

fn plan() -> RatePlanView {
    let change = RateChangeView {
        line: Some(2),
        destination: "262-01".to_owned(),
        sender_kind: Some("alphanumeric".to_owned()),
        change: RateChange::Raised,
        before: Some(amount("0.05")),
        per_part: Some(amount("0.065")),
        currency: "EUR".to_owned(),
        from: "2027-01-01T00:00:00Z".to_owned(),
        until: None,
    };
    RatePlanView {
        carrier: "north".to_owned(),
        applied: false,
        plan: String::new(),
        sha256: String::new(),
        mode: "partial".to_owned(),
        rows: 3,
        counts: RateCounts { raised: 2, unchanged: 1, ..RateCounts::default() },
        changes: vec![change],
        problems: vec![RowProblemView { line: 4, problem: "there is no network 262-99".to_owned() }],
        warnings: vec!["1 cost is 0: 262-03".to_owned()],
        ignored_columns: vec!["Operator\u{1b}".to_owned()],
        losses: vec![LossView {
            account: "shop".to_owned(),
            destination: "262-01".to_owned(),
            from: "2027-01-01T00:00:00Z".to_owned(),
            price: amount("0.06"),
            cost: amount("0.065"),
            currency: "EUR".to_owned(),
            parts: Some(1200),
        }],
        losses_found: 2,
        losses_complete: true,
    }
}

#[test]
fn plan_shows_counts_changes_problems_warnings_and_losses() {
    let text = plan_text(&plan());
    let expect = "\
3 rows for north, a partial sheet: 2 raised, 1 unchanged

DESTINATION          CHANGE  BEFORE   THEN  CURRENCY  FROM
262-01:alphanumeric  raised    0.05  0.065  EUR       2027-01-01T00:00:00Z
and 1 more: --csv prints all

1 row cannot be read and changes nothing:
  line 4: there is no network 262-99

Columns without a meaning: Operator\\u{1b}

Warning: 1 cost is 0: 262-03.

Sold at a loss:
ACCOUNT  DESTINATION  FROM                  PRICE   COST  CURRENCY  PARTS IN 30 DAYS
shop     262-01       2027-01-01T00:00:00Z   0.06  0.065  EUR                   1200
and 1 more: --json prints all
";
    assert_eq!(text, expect);
}

#[test]
fn changes_are_csv_with_a_row_each() {
    let expect = "line,destination,sender_kind,change,before,per_part,currency,from,until\r\n\
                  2,262-01,alphanumeric,raised,0.05,0.065,EUR,2027-01-01T00:00:00Z,\r\n";
    assert_eq!(changes_csv(&plan().changes), expect);
}

#[test]
fn undo_says_what_stays() {
    let view = UndoneView {
        dry_run: false,
        number: 3,
        file: "sheet.csv".to_owned(),
        taken_back: 40,
        in_force: 2,
        changed_since: 0,
    };
    assert_eq!(
        undone_text(&view),
        "Costs of sheet 3 (sheet.csv) taken back: 40.\nIn force already, to be changed by another sheet only: 2.\n"
    );
}
