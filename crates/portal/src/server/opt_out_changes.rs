//! Adding opt-outs, one or many, and the account's own opt-out keywords.

use super::State;
use super::extract::MemberForm;
use super::member::Member;
use super::opt_outs::{LINES_MAX, OptOutFilter, OptOutsFormResult, page_of};
use super::reply::{Reply, fault, page, page_with_status};
use crate::forms::Field;
use crate::numbers::grouped;
use crate::pages::opt_outs::{ChangeOptOuts, Imported, WrongLine};
use axum::http::StatusCode;
use hermod_domain::permission::Permission;
use hermod_operator::entry::views::{Fields, SaveQuery};
use hermod_operator::kind::Kind;
use hermod_operator::opt_out::{OptOutRequest, add_opt_out};
use hermod_operator::refusal::OperatorRefusal;
use hermod_operator::setup::use_cases::patch_entry;
use serde::Deserialize;
use serde_json::Value;

/// Characters of how an opt-out was made.
const HOW_CHARS_MAX: usize = 100;
/// Characters of a line that are shown again.
const LINE_CHARS_MAX: usize = 40;
/// The heading of the number in our own export.
const HEADING: &str = "number";

#[derive(Deserialize)]
pub(super) struct AddForm {
    number: String,
    #[serde(default)]
    note: String,
}

/// `POST /accounts/{account}/opt-outs`.
pub(super) async fn add(
    axum::extract::State(portal): State,
    MemberForm { member, form: AddForm { number, note } }: MemberForm<AddForm>,
) -> Reply {
    member.require(Permission::SendMessages)?;
    let request = OptOutRequest { how: how(&member, &note), imported: false };
    let acting = member.acting(&portal);
    let written = without_separators(&number);
    let refusal = match add_opt_out(&acting, &member.account_name, &written, Some(request)).await {
        Ok(stored) if stored.is_new => return Ok(member.done("opt-outs", "opt-out-added")),
        Ok(_) => return Ok(member.done("opt-outs", "opt-out-known")),
        Err(refusal) => refusal,
    };
    let is_about_note = matches!(refusal, OperatorRefusal::InvalidField { field: "how", .. });
    let error = fault(refusal)?;
    let forms = match is_about_note {
        true => ChangeOptOuts {
            number: Field::new(number),
            note: Field::invalid(note, error),
            ..ChangeOptOuts::default()
        },
        false => ChangeOptOuts {
            number: Field::invalid(number, error),
            note: Field::new(note),
            ..ChangeOptOuts::default()
        },
    };
    let additions = OptOutsFormResult { forms, ..OptOutsFormResult::default() };
    let shown = page_of(&portal, &member, OptOutFilter::default(), additions).await?;
    Ok(page_with_status(StatusCode::BAD_REQUEST, &shown))
}

/// Says who added it and why, within the limit.
fn how(member: &Member, note: &str) -> String {
    let by = format!("added by {}", member.session.email);
    let note = note.trim();
    let how = if note.is_empty() { by } else { format!("{note} ({by})") };
    how.chars().take(HOW_CHARS_MAX).collect()
}

/// Leaves out what people write between digits.
fn without_separators(number: &str) -> String {
    number.trim().chars().filter(|c| !matches!(c, ' ' | '-' | '(' | ')' | '.' | '/')).collect()
}

#[derive(Deserialize)]
pub(super) struct ImportForm {
    numbers: String,
    #[serde(default)]
    import_note: String,
}

/// `POST /accounts/{account}/opt-outs/import`.
pub(super) async fn import(
    axum::extract::State(portal): State,
    MemberForm { member, form: ImportForm { numbers, import_note } }: MemberForm<ImportForm>,
) -> Reply {
    member.require(Permission::SendMessages)?;
    let lines: Vec<(usize, &str)> = (1..).zip(numbers.lines()).filter(|(_, line)| is_given(line)).collect();
    if lines.is_empty() || lines.len() > LINES_MAX {
        let max = grouped(u64::try_from(LINES_MAX).unwrap_or(u64::MAX));
        let error = format!("Give 1 to {max} numbers, one for each line. There are {}.", lines.len());
        let forms = ChangeOptOuts {
            numbers: Field::invalid(numbers, error),
            import_note: Field::new(import_note),
            ..ChangeOptOuts::default()
        };
        let additions = OptOutsFormResult { forms, ..OptOutsFormResult::default() };
        let shown = page_of(&portal, &member, OptOutFilter::default(), additions).await?;
        return Ok(page_with_status(StatusCode::BAD_REQUEST, &shown));
    }
    let (acting, how) = (member.acting(&portal), how(&member, &import_note));
    let (mut added, mut known, mut wrong) = (0, 0, Vec::new());
    for (line, text) in lines {
        let request = OptOutRequest { how: how.clone(), imported: true };
        let number = first_number(text);
        match add_opt_out(&acting, &member.account_name, &number, Some(request)).await {
            Ok(stored) if stored.is_new => added += 1,
            Ok(_) => known += 1,
            Err(refusal) => {
                let text = text.chars().take(LINE_CHARS_MAX).collect();
                wrong.push(WrongLine { line, text, why: fault(refusal)? });
            }
        }
    }
    let imported = Imported { added: grouped(added), known: grouped(known), wrong };
    let additions = OptOutsFormResult { imported: Some(imported), ..OptOutsFormResult::default() };
    Ok(page(&page_of(&portal, &member, OptOutFilter::default(), additions).await?))
}

/// Whether a line has a number to import: it is neither empty nor a row of headings.
fn is_given(line: &str) -> bool {
    let cell = first_cell(line);
    !cell.is_empty() && !cell.eq_ignore_ascii_case(HEADING)
}

fn first_cell(line: &str) -> &str {
    line.split([',', ';', '\t']).next().unwrap_or_default().trim().trim_matches('"').trim()
}

/// Returns the number of a line. Exports of spreadsheets and our own have it without a plus.
fn first_number(line: &str) -> String {
    let number = without_separators(first_cell(line));
    if number.starts_with(|c: char| c.is_ascii_digit()) { format!("+{number}") } else { number }
}

#[derive(Deserialize)]
pub(super) struct KeywordsForm {
    words: String,
}

/// `POST /accounts/{account}/opt-outs/keywords`.
pub(super) async fn save_keywords(
    axum::extract::State(portal): State,
    MemberForm { member, form: KeywordsForm { words } }: MemberForm<KeywordsForm>,
) -> Reply {
    member.require(Permission::SendMessages)?;
    let list = words.lines().map(str::trim).filter(|word| !word.is_empty()).map(Value::from);
    let patch = Fields::from_iter([("stop_words".to_owned(), Value::from_iter(list))]);
    let acting = member.acting(&portal);
    let name = &member.account_name;
    match patch_entry(&acting, Kind::Account, name, &SaveQuery::default(), patch).await {
        Ok(_) => Ok(member.done("opt-outs", "keywords-saved")),
        Err(refusal) => {
            let words = Field::invalid(words, fault(refusal)?);
            let additions = OptOutsFormResult { words: Some(words), ..OptOutsFormResult::default() };
            let shown = page_of(&portal, &member, OptOutFilter::default(), additions).await?;
            Ok(page_with_status(StatusCode::BAD_REQUEST, &shown))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_a_line_is_its_first_cell_with_a_plus() {
        for (line, expect) in [
            ("+4915112345678", "+4915112345678"),
            ("4915112345678,2026-11-15,replied STOP", "+4915112345678"),
            ("\"+49 151 123-456 78\";x", "+4915112345678"),
            ("  0151 12345", "+015112345"),
            ("Anna", "Anna"),
        ] {
            assert_eq!(first_number(line), expect, "{line}");
        }
        assert!(!is_given("number,since,how") && !is_given("  ") && is_given("1"));
    }
}
