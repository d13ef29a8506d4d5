//! The signed-in user of a request, and the user's role in the account of the path. An account of others looks like one that
//! does not exist.

use super::reply::{NoPage, redirect};
use super::{Portal, cookie, flash};
use crate::layout::{AccountChoice, Entry, Shell, encode_segment};
use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use axum::response::Response;
use hermod_domain::catalogue::Role;
use hermod_domain::ids::AccountId;
use hermod_domain::permission::Permission;
use hermod_gateway::app::users::{Session, find_session};
use hermod_gateway::author::{Acting, Author};
use hermod_gateway::http::pages::PageSource;
use std::collections::HashMap;
use std::sync::Arc;

/// Where a request came from.
pub(super) struct From(pub(super) PageSource);

impl<S: Send + Sync> FromRequestParts<S> for From {
    type Rejection = NoPage;

    async fn from_request_parts(head: &mut Parts, _: &S) -> Result<From, NoPage> {
        head.extensions.get::<PageSource>().cloned().map(From).ok_or(NoPage::Failed)
    }
}

/// The session of a request, if it has one.
pub(super) struct MaybeSession(pub(super) Option<Session>);

impl FromRequestParts<Arc<Portal>> for MaybeSession {
    type Rejection = NoPage;

    async fn from_request_parts(head: &mut Parts, portal: &Arc<Portal>) -> Result<MaybeSession, NoPage> {
        let From(source) = From::from_request_parts(head, portal).await?;
        let Some(token) = cookie::token(portal, &source, &head.headers) else {
            return Ok(MaybeSession(None));
        };
        Ok(MaybeSession(find_session(&portal.world, token.reveal()).await?))
    }
}

/// A user in one of the user's accounts.
pub(super) struct Member {
    pub(super) session: Session,
    pub(super) account: AccountId,
    pub(super) account_name: String,
    pub(super) role: Role,
    pub(super) accounts: Vec<AccountChoice>,
    pub(super) source: PageSource,
    /// What the request before this page has done; see [`flash`].
    done: Option<String>,
}

impl FromRequestParts<Arc<Portal>> for Member {
    type Rejection = NoPage;

    async fn from_request_parts(head: &mut Parts, portal: &Arc<Portal>) -> Result<Member, NoPage> {
        let MaybeSession(session) = MaybeSession::from_request_parts(head, portal).await?;
        let Some(session) = session else {
            let next = head.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
            return Err(NoPage::SignIn { next });
        };
        let names: Path<HashMap<String, String>> =
            Path::from_request_parts(head, portal).await.map_err(|_| NoPage::NotFound)?;
        let wanted = names.get("account").ok_or(NoPage::NotFound)?;
        let catalogue = portal.world.catalogue();
        let (_, user) = catalogue.users().by_id(session.user).ok_or(NoPage::NotFound)?;
        let memberships = user.accounts.iter().filter_map(|membership| {
            let view = catalogue.account(membership.account)?;
            Some((view.name.clone(), membership.account, membership.role))
        });
        let memberships: Vec<(String, AccountId, Role)> = memberships.collect();
        let own = memberships.iter().find(|(name, ..)| name == wanted).ok_or(NoPage::NotFound)?;
        let (account_name, account, role) = own.clone();
        let choice = |(name, ..): &(String, AccountId, Role)| AccountChoice {
            name: name.clone(),
            label: name.clone(),
        };
        let accounts = memberships.iter().map(choice).collect();
        let From(source) = From::from_request_parts(head, portal).await?;
        let done = flash::code(head.uri.query().unwrap_or_default());
        Ok(Member { session, account, account_name, role, accounts, source, done })
    }
}

/// The pages that exist, with what a role must have to open them.
const ENTRIES: &[(Entry, Permission)] = &[
    (Entry::Home, Permission::ReadMessages),
    (Entry::Messages, Permission::ReadMessages),
    (Entry::Limits, Permission::ReadMessages),
    (Entry::Held, Permission::ReadMessages),
    (Entry::Requests, Permission::ReadMessages),
    (Entry::Audit, Permission::ReadTeam),
];

impl Member {
    pub(super) fn may(&self, permission: Permission) -> bool {
        self.role.may(permission)
    }

    /// Fails with the page that says so if the role has not this permission.
    pub(super) fn require(&self, permission: Permission) -> Result<(), NoPage> {
        if self.may(permission) { Ok(()) } else { Err(NoPage::Forbidden(self.role)) }
    }

    /// Fails with the page that asks for the password if it was not typed a short while ago. Afterwards the browser goes to the
    /// page `back` of this account.
    pub(super) fn require_confirmed(&self, back: &str) -> Result<(), NoPage> {
        if self.session.is_confirmed {
            return Ok(());
        }
        Err(NoPage::Confirm { account: self.account_name.clone(), next: self.path(back) })
    }

    /// Returns the gateway with this user as the author of changes.
    pub(super) fn acting(&self, portal: &Portal) -> Acting {
        let author = Author::user(&self.session.email, self.source.address);
        Acting { world: portal.world.clone(), author }
    }

    /// Returns the address of a page of this account, such as `keys`.
    pub(super) fn path(&self, page: &str) -> String {
        format!("/accounts/{}/{page}", encode_segment(&self.account_name))
    }

    /// Leads to a page of this account, which says what was done: a code of [`flash`].
    pub(super) fn done(&self, page: &str, code: &'static str) -> Response {
        redirect(&format!("{}?done={code}", self.path(page)))
    }

    /// Returns what surrounds a page of this account.
    pub(super) fn shell(&self, current: Entry) -> Shell {
        let visible = ENTRIES.iter().filter(|(_, permission)| self.may(*permission));
        Shell {
            account: self.account_name.clone(),
            account_label: self.account_name.clone(),
            accounts: self.accounts.clone(),
            email: self.session.email.clone(),
            role: self.role.as_str().to_owned(),
            csrf: self.session.csrf.clone(),
            visible: visible.map(|(entry, _)| *entry).collect(),
            current: Some(current),
            notices: Vec::new(),
            flash: self.done.as_deref().and_then(flash::of),
            has_profile: false,
        }
    }

    /// Shows a phone number as the role may see it.
    pub(super) fn shown_number(&self, number: Option<String>) -> Option<String> {
        if self.may(Permission::ReadTexts) { number } else { number.map(|number| masked(&number)) }
    }
}

/// Characters of a masked number that are shown.
const HEAD: usize = 4;
const TAIL: usize = 2;

fn masked(number: &str) -> String {
    let digits: Vec<char> = number.chars().collect();
    let hidden = digits.len().saturating_sub(HEAD + TAIL);
    let shown = digits
        .iter()
        .enumerate()
        .map(|(index, digit)| if (HEAD..HEAD + hidden).contains(&index) { '•' } else { *digit });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn masked_number_keeps_country_and_last_digits() {
        assert_eq!(masked("+4915112345678"), "+491••••••••78");
        assert_eq!(masked("+49"), "+49");
    }
}
