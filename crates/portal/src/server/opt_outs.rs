//! The list of opt-outs: search, export, and the page that lifts one.

use super::export::csv_of_today;
use super::extract::{MemberForm, NoFields, Path, Query};
use super::member::Member;
use super::reply::{NoPage, Reply, fault, page};
use super::shown::time;
use super::{Portal, State};
use crate::forms::Field;
use crate::layout::{NavEntry, encode_segment};
use crate::numbers::grouped;
use crate::pages::confirm::ConfirmPage;
use crate::pages::opt_outs::{ChangeOptOuts, Imported, OptOutRow, OptOutsPage};
use crate::time::Time;
use axum::body::Body;
use futures_util::stream;
use hermod_domain::inbound::OPT_OUT_KEYWORDS;
use hermod_domain::permission::Permission;
use hermod_operator::csv::{Cell, push_headings, push_row};
use hermod_operator::opt_out::{OptOutView, OptOutsQuery, find_opt_out, list_opt_outs, remove_opt_out};
use hermod_operator::views::paging::Limit;
use serde::Deserialize;

/// Rows of a page.
const ROWS: u32 = 50;
/// Lines of one import, which fit in a form.
pub(super) const LINES_MAX: usize = 1_000;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct OptOutFilter {
    number: String,
    after: String,
}

/// What a form adds to the page.
#[derive(Default)]
pub(super) struct OptOutsFormResult {
    pub(super) forms: ChangeOptOuts,
    pub(super) words: Option<Field>,
    pub(super) imported: Option<Imported>,
}

/// `GET /accounts/{account}/opt-outs`.
pub(super) async fn list(
    axum::extract::State(portal): State,
    member: Member,
    Query(filter): Query<OptOutFilter>,
) -> Reply {
    member.require(Permission::ReadTexts)?;
    Ok(page(&page_of(&portal, &member, filter, OptOutsFormResult::default()).await?))
}

pub(super) async fn page_of(
    portal: &Portal,
    member: &Member,
    filter: OptOutFilter,
    additions: OptOutsFormResult,
) -> Result<OptOutsPage, NoPage> {
    let shell = member.shell(NavEntry::OptOuts);
    let wanted = filter.number.trim();
    let mut search = Field::new(wanted);
    let (found, next) = if wanted.is_empty() {
        let query = OptOutsQuery {
            after: Some(filter.after).filter(|after| !after.is_empty()),
            limit: Limit::try_from(ROWS.to_string()).ok(),
        };
        let found = list_opt_outs(&portal.gateway, &member.account_name, query).await;
        let found = found.map_err(|_| NoPage::NotFound)?;
        (found.items, found.next)
    } else {
        match find_opt_out(&portal.gateway, &member.account_name, wanted).await {
            Ok(found) => (found.into_iter().collect(), None),
            Err(refusal) => {
                search.error = Some(fault(refusal)?);
                (Vec::new(), None)
            }
        }
    };
    let own_keywords = own_keywords(portal, member);
    let OptOutsFormResult { forms, words, imported } = additions;
    let words = words.unwrap_or_else(|| Field::new(own_keywords.join("\n")));
    let change =
        ChangeOptOuts { words, lines_max: grouped(u64::try_from(LINES_MAX).unwrap_or(u64::MAX)), ..forms };
    Ok(OptOutsPage {
        is_filtered: !wanted.is_empty(),
        search,
        rows: found.into_iter().map(row).collect(),
        next: next.map(|next| format!("{}?after={}", shell.path("opt-outs"), encode_segment(&next))),
        change: member.may(Permission::SendMessages).then_some(change),
        imported,
        export: shell.path("opt-outs.csv"),
        keywords: OPT_OUT_KEYWORDS.map(str::to_owned).to_vec(),
        own_keywords,
        shell,
    })
}

fn own_keywords(portal: &Portal, member: &Member) -> Vec<String> {
    let catalogue = portal.gateway.catalogue();
    catalogue.account(member.account).map(|view| view.account.stop_words.clone()).unwrap_or_default()
}

fn row(view: OptOutView) -> OptOutRow {
    let OptOutView { number, source, how, at } = view;
    OptOutRow { number: number.into(), since: time(&at).unwrap_or(Time(0)), source, how }
}

/// `GET /accounts/{account}/opt-outs.csv`.
pub(super) async fn export(axum::extract::State(portal): State, member: Member) -> Reply {
    member.require(Permission::ReadTexts)?;
    let mut headings = String::new();
    push_headings(&mut headings, &["number", "since", "source", "how"]);
    let (gateway, account) = (portal.gateway.clone(), member.account_name.clone());
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
    Ok(csv_of_today(&portal, "opt-outs", Body::from_stream(pieces)))
}

/// `GET /accounts/{account}/opt-outs/{number}/lift`.
pub(super) async fn confirm_lift(
    axum::extract::State(portal): State,
    member: Member,
    Path((_, number)): Path<(String, String)>,
) -> Reply {
    member.require(Permission::SendMessages)?;
    let found = find_opt_out(&portal.gateway, &member.account_name, &number).await;
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
        hidden: Vec::new(),
        button: "Lift the opt-out".to_owned(),
        is_danger: true,
        cancel: shell.path("opt-outs"),
        shell,
    }))
}

/// `POST /accounts/{account}/opt-outs/{number}/lift`.
pub(super) async fn lift(
    axum::extract::State(portal): State,
    Path((_, number)): Path<(String, String)>,
    MemberForm { member, .. }: MemberForm<NoFields>,
) -> Reply {
    member.require(Permission::SendMessages)?;
    let lifted = remove_opt_out(&member.acting(&portal), &member.account_name, &number).await;
    lifted.map_err(|_| NoPage::NotFound)?;
    Ok(member.done("opt-outs", "opt-out-lifted"))
}
