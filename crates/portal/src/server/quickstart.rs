//! The quickstart page: programs with a key of the account.

use super::State;
use super::extract::Query;
use super::key_rows::base_url;
use super::member::Member;
use super::reply::{NoPage, Reply, page};
use crate::forms::Select;
use crate::layout::NavEntry;
use crate::pages::quickstart::{QuickstartPage, Sample};
use hermod_domain::permission::Permission;
use serde::Deserialize;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct QuickstartQuery {
    key: String,
}

/// `GET /accounts/{account}/quickstart`.
pub(super) async fn show(
    axum::extract::State(portal): State,
    member: Member,
    Query(QuickstartQuery { key }): Query<QuickstartQuery>,
) -> Reply {
    member.require(Permission::ReadSetup)?;
    let (catalogue, now) = (portal.gateway.catalogue(), portal.gateway.clock.now());
    let valid = catalogue.keys_of(member.account).into_iter().filter(|(_, key)| key.is_valid_at(now));
    let mut keys: Vec<(&str, String)> = valid
        .map(|(id, key)| match key.label.as_str() {
            "" => (id, id.to_owned()),
            label => (id, format!("{id}, {label}")),
        })
        .collect();
    keys.sort_unstable();
    let wanted = if key.is_empty() { keys.first().map_or("", |(id, _)| *id) } else { key.as_str() };
    if !wanted.is_empty() && !keys.iter().any(|(id, _)| *id == wanted) {
        return Err(NoPage::NotFound);
    }
    Ok(page(&QuickstartPage {
        shell: member.shell(NavEntry::Quickstart),
        samples: if wanted.is_empty() { Vec::new() } else { Sample::all(&base_url(&portal), wanted) },
        keys: Select::new(keys.iter().map(|(id, label)| (*id, label.clone())), wanted),
    }))
}
