//! Opt-outs, numbers that get no messages from this account: search, export, adding one or many, lifting one, and the account's own
//! opt-out keywords.

use crate::forms::Field;
use crate::layout::{NavEntry, Shell, encode_segment};
use crate::numbers::grouped;
use crate::pages::confirm::ConfirmPage;
use crate::request::extract::{MemberForm, NoFields, Path, Query};
use crate::request::member::Member;
use crate::request::reply::{NoPage, Reply, fault, page, page_again};
use crate::request::shown::time_of;
use crate::time::Time;
use askama::Template;
use axum::body::Body;
use futures_util::stream;
use hermod_domain::inbound::OPT_OUT_KEYWORDS;
use hermod_domain::permission::Permission;
use hermod_operator::csv::{Cell, push_headings, push_row};
use hermod_operator::kind::Kind;
use hermod_operator::opt_out::{
    OptOutRequest, OptOutView, OptOutsQuery, add_opt_out, find_opt_out, list_opt_outs, remove_opt_out,
};
use hermod_operator::refusal::OperatorRefusal;
use hermod_operator::views::paging::Limit;
use serde::Deserialize;
use serde_json::Value;

/// `GET /accounts/{account}/opt-outs?number=…&after=…`. Posts to the same address (`number`, `note`), to `opt-outs/import`
/// (`numbers`, `import_note`) and to `opt-outs/keywords` (`words`); lifting is the page `opt-outs/{number}/lift`.
#[derive(Clone, Debug, Template)]
#[template(path = "opt_outs.html")]
pub struct OptOutsPage {
    pub shell: Shell,
    pub search: Field,
    pub is_filtered: bool,
    /// In the order of the numbers.
    pub rows: Vec<OptOutRow>,
    pub next: Option<String>,
    /// `None` if the role may not add or lift.
    pub change: Option<ChangeOptOuts>,
    /// What became of the numbers that were just imported.
    pub imported: Option<Imported>,
    /// The list as CSV.
    pub export: String,
    /// The words of every account that opt a handset out, such as `STOP`.
    pub keywords: Vec<String>,
    /// The account's own words.
    pub own_keywords: Vec<String>,
}

/// A number that opted out.
#[derive(Clone, Debug)]
pub struct OptOutRow {
    pub number: String,
    pub since: Time,
    /// `keyword`, `portal`, `operator` or `import`.
    pub source: String,
    /// `replied STOP`, or `asked by phone (added by jana@…)`.
    pub how: String,
}

/// The forms that change the list.
#[derive(Clone, Debug, Default)]
pub struct ChangeOptOuts {
    pub number: Field,
    pub note: Field,
    /// One number for each line.
    pub numbers: Field,
    pub import_note: Field,
    /// The most lines of one import, such as `1,000`.
    pub lines_max: String,
    /// One of the account's own words for each line.
    pub words: Field,
}

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Numbers that are new on the list.
    pub added: String,
    /// Numbers that were on it already.
    pub known: String,
    /// Lines that are no number, and why.
    pub wrong: Vec<WrongLine>,
}

/// A line of an import that was not added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrongLine {
    /// Its place, from 1.
    pub line: usize,
    pub text: String,
    pub why: String,
}

/// Rows of a page.
const ROWS: u32 = 50;
/// Lines of one import, which fit in a form.
pub(crate) const LINES_MAX: usize = 1_000;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct OptOutFilter {
    number: String,
    after: String,
}

/// `GET /accounts/{account}/opt-outs`.
pub(crate) async fn list(member: Member, Query(filter): Query<OptOutFilter>) -> Reply {
    member.require(Permission::ReadTexts)?;
    Ok(page(&page_of(&member, filter).await?))
}

async fn page_of(member: &Member, filter: OptOutFilter) -> Result<OptOutsPage, NoPage> {
    let shell = member.shell(NavEntry::OptOuts);
    let wanted = filter.number.trim();
    let mut search = Field::new(wanted);
    let (found, next) = if wanted.is_empty() {
        let query = OptOutsQuery {
            after: Some(filter.after).filter(|after| !after.is_empty()),
            limit: Limit::try_from(ROWS.to_string()).ok(),
        };
        let found = list_opt_outs(member.gateway(), &member.account_name, query).await;
        let found = found.map_err(|_| NoPage::NotFound)?;
        (found.items, found.next)
    } else {
        match find_opt_out(member.gateway(), &member.account_name, wanted).await {
            Ok(found) => (found.into_iter().collect(), None),
            Err(refusal) => {
                search.error = Some(fault(refusal)?);
                (Vec::new(), None)
            }
        }
    };
    let own_keywords = own_keywords(member);
    let change = ChangeOptOuts {
        words: Field::new(own_keywords.join("\n")),
        lines_max: grouped(LINES_MAX as u64),
        ..ChangeOptOuts::default()
    };
    Ok(OptOutsPage {
        is_filtered: !wanted.is_empty(),
        search,
        rows: found.into_iter().map(row).collect(),
        next: next.map(|next| format!("{}?after={}", shell.path("opt-outs"), encode_segment(&next))),
        change: member.may(Permission::SendMessages).then_some(change),
        imported: None,
        export: shell.path("opt-outs.csv"),
        keywords: OPT_OUT_KEYWORDS.map(str::to_owned).to_vec(),
        own_keywords,
        shell,
    })
}

fn own_keywords(member: &Member) -> Vec<String> {
    let catalogue = member.gateway().catalogue();
    catalogue.account(member.account).map(|view| view.account.stop_words.clone()).unwrap_or_default()
}

fn row(view: OptOutView) -> OptOutRow {
    let OptOutView { number, source, how, at } = view;
    OptOutRow { number: number.into(), since: time_of(&at), source, how }
}

/// `GET /accounts/{account}/opt-outs.csv`.
pub(crate) async fn export(member: Member) -> Reply {
    member.require(Permission::ReadTexts)?;
    let mut headings = String::new();
    push_headings(&mut headings, &["number", "since", "source", "how"]);
    let (gateway, account) = (member.gateway().clone(), member.account_name.clone());
    let first = Some((headings, None));
    let pieces = stream::unfold(first, move |state| {
        let (gateway, account) = (gateway.clone(), account.clone());
        async move {
            let (mut text, after) = state?;
            let query = OptOutsQuery { after, limit: Some(Limit::MAX) };
            let found = match list_opt_outs(&gateway, &account, query).await {
                Ok(found) => found,
                // The connection is cut, so that the file is seen to be incomplete.
                Err(refusal) => return Some((Err(std::io::Error::other(refusal.to_string())), None)),
            };
            for OptOutView { number, source, how, at } in &found.items {
                push_row(
                    &mut text,
                    &[Cell::Phone(number), Cell::Text(at), Cell::Text(source), Cell::Text(how)],
                );
            }
            Some((Ok(text), found.next.map(|next| (String::new(), Some(next)))))
        }
    });
    Ok(member.csv_of_today("opt-outs", Body::from_stream(pieces)))
}

/// `GET /accounts/{account}/opt-outs/{number}/lift`.
pub(crate) async fn confirm_lift(member: Member, Path((_, number)): Path<(String, String)>) -> Reply {
    member.require(Permission::SendMessages)?;
    let found = find_opt_out(member.gateway(), &member.account_name, &number).await;
    let found = found.map_err(|_| NoPage::NotFound)?.ok_or(NoPage::NotFound)?;
    let shell = member.shell(NavEntry::OptOuts);
    Ok(page(&ConfirmPage {
        title: format!("Lift the opt-out of {}?", found.number),
        text: "Messages of this account to the number are accepted and charged again.".to_owned(),
        consequences: vec![
            format!("How it opted out: {}.", found.how.trim_end_matches('.')),
            "In most countries you need a new consent of the person.".to_owned(),
            "The person can opt out again at any time with a keyword such as STOP.".to_owned(),
        ],
        action: format!("{}/lift", shell.path_to("opt-outs", &found.number)),
        button: "Lift the opt-out".to_owned(),
        is_danger: true,
        cancel: shell.path("opt-outs"),
        shell,
    }))
}

/// `POST /accounts/{account}/opt-outs/{number}/lift`.
pub(crate) async fn lift(
    Path((_, number)): Path<(String, String)>,
    MemberForm { member, .. }: MemberForm<NoFields>,
) -> Reply {
    member.require(Permission::SendMessages)?;
    let lifted = remove_opt_out(&member.acting(), &member.account_name, &number).await;
    lifted.map_err(|_| NoPage::NotFound)?;
    Ok(member.done("opt-outs", "opt-out-lifted"))
}

/// Characters of how an opt-out was made.
const HOW_CHARS_MAX: usize = 100;
/// Characters of a line that are shown again.
const LINE_CHARS_MAX: usize = 40;
/// The heading of the number in our own export.
const HEADING: &str = "number";

#[derive(Deserialize)]
pub(crate) struct AddForm {
    number: String,
    #[serde(default)]
    note: String,
}

/// `POST /accounts/{account}/opt-outs`.
pub(crate) async fn add(MemberForm { member, form: AddForm { number, note } }: MemberForm<AddForm>) -> Reply {
    member.require(Permission::SendMessages)?;
    let request = OptOutRequest { how: how(&member, &note), imported: false };
    let acting = member.acting();
    let written = without_separators(&number);
    let refusal = match add_opt_out(&acting, &member.account_name, &written, Some(request)).await {
        Ok(stored) if stored.is_new => return Ok(member.done("opt-outs", "opt-out-added")),
        Ok(_) => return Ok(member.done("opt-outs", "opt-out-known")),
        Err(refusal) => refusal,
    };
    let is_about_note = matches!(refusal, OperatorRefusal::InvalidField { field: "how", .. });
    let error = fault(refusal)?;
    let (number, note) = match is_about_note {
        true => (Field::new(number), Field::invalid(note, error)),
        false => (Field::invalid(number, error), Field::new(note)),
    };
    again(&member, |change| (change.number, change.note) = (number, note)).await
}

/// Shows the page again with what is wrong with one of its forms.
async fn again(member: &Member, write: impl FnOnce(&mut ChangeOptOuts)) -> Reply {
    let mut shown = page_of(member, OptOutFilter::default()).await?;
    if let Some(change) = &mut shown.change {
        write(change);
    }
    Ok(page_again(&shown))
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
pub(crate) struct ImportForm {
    numbers: String,
    #[serde(default)]
    import_note: String,
}

/// `POST /accounts/{account}/opt-outs/import`.
pub(crate) async fn import(
    MemberForm { member, form: ImportForm { numbers, import_note } }: MemberForm<ImportForm>,
) -> Reply {
    member.require(Permission::SendMessages)?;
    let lines: Vec<(usize, &str)> = (1..).zip(numbers.lines()).filter(|(_, line)| is_given(line)).collect();
    if lines.is_empty() || lines.len() > LINES_MAX {
        let max = grouped(LINES_MAX as u64);
        let error = format!("Give 1 to {max} numbers, one for each line. There are {}.", lines.len());
        let (numbers, note) = (Field::invalid(numbers, error), Field::new(import_note));
        return again(&member, |change| (change.numbers, change.import_note) = (numbers, note)).await;
    }
    let (acting, how) = (member.acting(), how(&member, &import_note));
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
    let imported = Some(Imported { added: grouped(added), known: grouped(known), wrong });
    let shown = page_of(&member, OptOutFilter::default()).await?;
    Ok(page(&OptOutsPage { imported, ..shown }))
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
pub(crate) struct KeywordsForm {
    words: String,
}

/// `POST /accounts/{account}/opt-outs/keywords`.
pub(crate) async fn save_keywords(
    MemberForm { member, form: KeywordsForm { words } }: MemberForm<KeywordsForm>,
) -> Reply {
    member.require(Permission::SendMessages)?;
    let list = words.lines().map(str::trim).filter(|word| !word.is_empty()).map(Value::from);
    let list = ("stop_words", Value::from_iter(list));
    match member.patch(Kind::Account, &member.account_name, [list]).await {
        Ok(()) => Ok(member.done("opt-outs", "keywords-saved")),
        Err(refusal) => {
            let words = Field::invalid(words, fault(refusal)?);
            again(&member, |change| change.words = words).await
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
