//! Messages that a screening rule held for review, with the operator's decisions.

use super::State;
use super::extract::Query;
use super::member::Member;
use super::reply::{Reply, page};
use super::shown::time;
use crate::elements::{Chip, Tone};
use crate::layout::NavEntry;
use crate::pages::messages::{HeldPage, HeldRow};
use crate::time::Time;
use hermod_domain::permission::Permission;
use hermod_domain::shown_number::NumberKind;
use hermod_domain::time::Timestamp;
use hermod_operator::review::{ReviewView, ReviewsQuery, list_reviews};
use hermod_operator::views::paging::{Limit, RowNumber};
use serde::Deserialize;

/// Rows of a page.
const ROWS: u32 = 50;

#[derive(Deserialize)]
pub(super) struct HeldQuery {
    #[serde(default)]
    before: Option<u64>,
}

/// `GET /accounts/{account}/held`.
pub(super) async fn list(
    axum::extract::State(portal): State,
    member: Member,
    Query(HeldQuery { before }): Query<HeldQuery>,
) -> Reply {
    member.require(Permission::ReadMessages)?;
    let numbers = &portal.gateway.numbers;
    let query = ReviewsQuery {
        account: Some(member.account_name.clone()),
        state: None,
        before: before.map(|shown| RowNumber::from(numbers.read(NumberKind::Review, shown))),
        limit: Limit::try_from(ROWS.to_string()).ok(),
    };
    let found = list_reviews(&portal.gateway, query).await?;
    let shell = member.shell(NavEntry::Held);
    let now = portal.gateway.clock.now();
    let can_send = member.may(Permission::SendMessages) && shell.can_open(&NavEntry::Compose);
    let row = |view: ReviewView| {
        let compose = can_send.then(|| {
            let shown = numbers.show(NumberKind::Review, view.id);
            format!("{}?held={shown}", shell.path("compose"))
        });
        row(&member, view, compose, now)
    };
    Ok(page(&HeldPage {
        next: found
            .next
            .map(|next| format!("{}?before={}", shell.path("held"), numbers.show(NumberKind::Review, next))),
        rows: found.items.into_iter().map(row).collect(),
        shell,
    }))
}

fn row(member: &Member, view: ReviewView, compose: Option<String>, now: Timestamp) -> HeldRow {
    let valid_until = view.valid_until.as_deref().and_then(Timestamp::parse);
    let is_valid = valid_until.is_some_and(|until| now < until);
    let (state, said) = decision(&view, valid_until, is_valid);
    let reason = Some(view.reason.trim_end_matches('.')).filter(|reason| !reason.is_empty());
    HeldRow {
        at: time(&view.opened_at).unwrap_or(Time(0)),
        from: view.from,
        to: member.shown_number(Some(view.to)).unwrap_or_default(),
        text: member.may(Permission::ReadTexts).then(|| view.text.into()),
        state,
        note: reason.map_or(said.clone(), |reason| format!("{reason}. {said}")),
        send_again: compose.filter(|_| is_valid),
    }
}

/// Says what was decided, and what that means.
fn decision(view: &ReviewView, valid_until: Option<Timestamp>, is_valid: bool) -> (Chip, String) {
    let day = |at: Option<Timestamp>| at.map(|at| at.day().to_string()).unwrap_or_default();
    let decided = day(view.decided_at.as_deref().and_then(Timestamp::parse));
    match view.state.as_str() {
        "open" => (Chip::new(Tone::Waiting, "Waiting"), "For the operator's decision.".to_owned()),
        "approved" if is_valid => {
            let until = day(valid_until);
            let note = format!("Approved on {decided}. Send it again until {until}.");
            (Chip::new(Tone::Good, "Approved"), note)
        }
        "approved" => {
            let note =
                format!("Approved on {decided}. The approval has ended; the next one is reviewed again.");
            (Chip::new(Tone::Neutral, "Approval ended"), note)
        }
        "rejected" => (Chip::new(Tone::Stopped, "Declined"), format!("Declined on {decided}.")),
        other => (Chip::new(Tone::Neutral, other), String::new()),
    }
}
