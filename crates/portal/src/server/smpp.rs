//! The SMPP page: what a client needs to bind, live and rejected binds, password rotation, allow-lists.

use super::extract::{MemberForm, Path};
use super::key::RotateForm;
use super::key_rows::overlap;
use super::member::Member;
use super::reply::{NoPage, Reply, fault, page, page_with_status};
use super::smpp_binds::{bind_row, rejected_bind};
use super::smpp_cards::card;
use super::{Portal, State, allow_list};
use crate::forms::Field;
use crate::layout::NavEntry;
use crate::pages::smpp::{SmppPage, SmppPasswordPage};
use crate::time::Time;
use axum::http::StatusCode;
use hermod_domain::catalogue::{Catalogue, SmppAccess};
use hermod_domain::permission::Permission;
use hermod_domain::shown_number::NumberKind;
use hermod_operator::bind::{BindsQuery, list_binds};
use hermod_operator::request::{RequestsQuery, list_requests};
use hermod_operator::rotation;
use hermod_operator::views::paging::Limit;
use serde::Deserialize;

/// How far back rejected binds are listed, and how many.
const REJECTED_SINCE: &str = "24h";
const REJECTED_MAX: u32 = 20;

/// `GET /accounts/{account}/smpp`.
pub(super) async fn show(axum::extract::State(portal): State, member: Member) -> Reply {
    member.require(Permission::ReadSetup)?;
    Ok(page(&smpp(&portal, &member).await?))
}

async fn smpp(portal: &Portal, member: &Member) -> Result<SmppPage, NoPage> {
    let account = Some(member.account_name.clone());
    let query = BindsQuery { account: account.clone(), system_id: None };
    let mut binds = list_binds(&portal.gateway, &query).await?.items;
    for bind in &mut binds {
        bind.number = portal.gateway.numbers.show(NumberKind::Bind, bind.number);
    }
    let query = RequestsQuery {
        account,
        kind: Some("bind".to_owned()),
        rejected: Some(true),
        since: Some(REJECTED_SINCE.to_owned()),
        limit: Limit::try_from(REJECTED_MAX.to_string()).ok(),
        ..RequestsQuery::default()
    };
    let rejected = list_requests(&portal.gateway, query).await?.items;
    let catalogue = portal.gateway.catalogue();
    let mut own = catalogue.connections_of(member.account);
    own.sort_unstable_by_key(|(_, name, _)| *name);
    let account = catalogue.account(member.account).ok_or(NoPage::NotFound)?;
    let cards = own.iter().filter_map(|(_, name, connection)| {
        let access = connection.smpp.as_ref()?;
        Some(card(&portal.gateway, account, name, connection, access, &binds))
    });
    Ok(SmppPage {
        shell: member.shell(NavEntry::Smpp),
        cards: cards.collect(),
        binds: binds.iter().map(bind_row).collect(),
        rejected: rejected.iter().map(rejected_bind).collect(),
        can_change: member.may(Permission::ChangeSetup),
    })
}

/// Finds the SMPP access of a connection of the account. A connection of another account looks like one that does not exist.
pub(super) fn own_access<'a>(
    catalogue: &'a Catalogue,
    member: &Member,
    connection: &str,
) -> Result<&'a SmppAccess, NoPage> {
    let own = catalogue.connections_of(member.account);
    let (.., found) = own.into_iter().find(|(_, name, _)| *name == connection).ok_or(NoPage::NotFound)?;
    found.smpp.as_ref().ok_or(NoPage::NotFound)
}

/// `POST /accounts/{account}/smpp/{connection}/rotate`.
pub(super) async fn rotate(
    axum::extract::State(portal): State,
    Path((_, connection)): Path<(String, String)>,
    MemberForm { member, form }: MemberForm<RotateForm>,
) -> Reply {
    member.require(Permission::ChangeSetup)?;
    own_access(&portal.gateway.catalogue(), &member, &connection)?;
    member.require_confirmed("smpp")?;
    let overlap = match overlap(&form.overlap) {
        Ok(overlap) => overlap,
        // The form offers only times that are valid.
        Err(refusal) => {
            fault(refusal)?;
            return Err(NoPage::StaleForm);
        }
    };
    let applied = rotation::rotate_password(&member.acting(&portal), &connection, &overlap).await?;
    let password = applied.secrets.first().map(|made| made.secret.clone()).ok_or(NoPage::Failed)?;
    let (catalogue, now) = (portal.gateway.catalogue(), portal.gateway.clock.now());
    let access = own_access(&catalogue, &member, &connection)?;
    let previous = access.previous.as_ref().filter(|previous| previous.is_valid_at(now));
    Ok(page(&SmppPasswordPage {
        shell: member.shell(NavEntry::Smpp),
        system_id: access.system_id.clone(),
        password,
        old_password_until: previous.map(|previous| Time(previous.until.as_millis())),
    }))
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct AllowListForm {
    allow_list: String,
}

/// `POST /accounts/{account}/smpp/{connection}/allow-list`.
pub(super) async fn save_allow_list(
    axum::extract::State(portal): State,
    Path((_, connection)): Path<(String, String)>,
    MemberForm { member, form }: MemberForm<AllowListForm>,
) -> Reply {
    member.require(Permission::ChangeSetup)?;
    own_access(&portal.gateway.catalogue(), &member, &connection)?;
    member.require_confirmed("smpp")?;
    match allow_list::save_of_connection(&portal, &member, &connection, &form.allow_list).await? {
        Ok(()) => Ok(member.done("smpp", "list-saved")),
        Err(error) => {
            let mut page = smpp(&portal, &member).await?;
            let own = page.cards.iter_mut().find(|card| card.connection == connection);
            if let Some(card) = own {
                card.allow_list = Field::invalid(form.allow_list, error);
            }
            Ok(page_with_status(StatusCode::BAD_REQUEST, &page))
        }
    }
}
