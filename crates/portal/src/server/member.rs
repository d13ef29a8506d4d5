//! The signed-in user of a request, and the user's role in the account of the path. An account of others looks like one that
//! does not exist.

use super::reply::{NoPage, redirect};
use super::{Portal, cookie, flash};
use crate::elements::{Notice, Tone};
use crate::layout::{AccountChoice, NavEntry, Shell, encode_segment};
use crate::numbers::amount;
use axum::extract::{FromRequestParts, Path};
use axum::http::Method;
use axum::http::request::Parts;
use axum::response::Response;
use hermod_domain::catalogue::{BalanceLevel, Role};
use hermod_domain::ids::AccountId;
use hermod_domain::permission::Permission;
use hermod_domain::phone::masked;
use hermod_gateway::app::{LowBalance, low_balance};
use hermod_gateway::http::pages::PageSource;
use hermod_operator::author::{Acting, Author};
use hermod_operator::refusal::OperatorRefusal;
use hermod_operator::user::invitations::list_invitations;
use hermod_operator::user::sessions::{Session, find_session};
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
        Ok(MaybeSession(find_session(&portal.gateway, token.reveal()).await?))
    }
}

/// The session of a request; without one the browser goes to the sign-in.
pub(super) struct Signed(pub(super) Session);

impl FromRequestParts<Arc<Portal>> for Signed {
    type Rejection = NoPage;

    async fn from_request_parts(head: &mut Parts, portal: &Arc<Portal>) -> Result<Signed, NoPage> {
        session_of(head, portal).await.map(Signed)
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
    /// The low-balance warning of the account, if it is below one.
    low: Option<LowBalance>,
    /// The names of accounts that the user is invited to.
    invited_to: Vec<String>,
}

impl FromRequestParts<Arc<Portal>> for Member {
    type Rejection = NoPage;

    async fn from_request_parts(head: &mut Parts, portal: &Arc<Portal>) -> Result<Member, NoPage> {
        let session = session_of(head, portal).await?;
        let names: Path<HashMap<String, String>> =
            Path::from_request_parts(head, portal).await.map_err(|_| NoPage::NotFound)?;
        let wanted = names.get("account").ok_or(NoPage::NotFound)?;
        member_in(head, portal, session, Some(wanted)).await
    }
}

/// A user on a page that belongs to no account. It is shown with the first account of the user.
pub(super) struct Person(pub(super) Member);

impl FromRequestParts<Arc<Portal>> for Person {
    type Rejection = NoPage;

    async fn from_request_parts(head: &mut Parts, portal: &Arc<Portal>) -> Result<Person, NoPage> {
        let session = session_of(head, portal).await?;
        let catalogue = portal.gateway.catalogue();
        let (_, user) = catalogue.users().by_id(session.user).ok_or(NoPage::NotFound)?;
        if user.memberships().next().is_none() {
            return Err(NoPage::NoAccount);
        }
        member_in(head, portal, session, None).await.map(Person)
    }
}

async fn session_of(head: &mut Parts, portal: &Arc<Portal>) -> Result<Session, NoPage> {
    let MaybeSession(session) = MaybeSession::from_request_parts(head, portal).await?;
    // Only a page can be opened again after signing in, not a form.
    let is_page = head.method == Method::GET;
    let page = head.uri.path_and_query().filter(|_| is_page).map_or("/", |path| path.as_str());
    session.ok_or_else(|| NoPage::SignIn { next: page.to_owned() })
}

/// Returns the user of a session in an account of the user, or in the first one.
async fn member_in(
    head: &mut Parts,
    portal: &Arc<Portal>,
    session: Session,
    wanted: Option<&str>,
) -> Result<Member, NoPage> {
    let catalogue = portal.gateway.catalogue();
    let (_, user) = catalogue.users().by_id(session.user).ok_or(NoPage::NotFound)?;
    let memberships = user.memberships().filter_map(|membership| {
        let view = catalogue.account(membership.account)?;
        Some((view.name.clone(), membership.account, membership.role))
    });
    let memberships: Vec<(String, AccountId, Role)> = memberships.collect();
    let own = memberships.iter().find(|(name, ..)| wanted.is_none_or(|wanted| name == wanted));
    let (account_name, account, role) = own.ok_or(NoPage::NotFound)?.clone();
    let choice =
        |(name, ..): &(String, AccountId, Role)| AccountChoice { name: name.clone(), label: name.clone() };
    let accounts = memberships.iter().map(choice).collect();
    let From(source) = From::from_request_parts(head, portal).await?;
    let done = flash::code(head.uri.query().unwrap_or_default());
    let low = match role.may(Permission::ReadMoney) {
        true => low_balance(&portal.gateway, account).await.map_err(OperatorRefusal::from)?,
        false => None,
    };
    let invited_to = list_invitations(&portal.gateway, session.user).into_iter();
    let invited_to = invited_to.map(|invitation| invitation.account_name).collect();
    Ok(Member { session, account, account_name, role, accounts, source, done, low, invited_to })
}

/// The pages that exist, with what a role must have to open them.
const ENTRIES: &[(NavEntry, Permission)] = &[
    (NavEntry::Home, Permission::ReadMessages),
    (NavEntry::Messages, Permission::ReadMessages),
    (NavEntry::Keys, Permission::ReadSetup),
    (NavEntry::Smpp, Permission::ReadSetup),
    (NavEntry::Quickstart, Permission::ReadSetup),
    (NavEntry::OptOuts, Permission::ReadTexts),
    (NavEntry::Senders, Permission::ReadSetup),
    (NavEntry::Destinations, Permission::ReadMoney),
    (NavEntry::Webhooks, Permission::ReadSetup),
    (NavEntry::RequestLog, Permission::ReadMessages),
    (NavEntry::Live, Permission::ReadMessages),
    (NavEntry::Compose, Permission::SendMessages),
    (NavEntry::Inbox, Permission::ReadMessages),
    (NavEntry::Billing, Permission::ReadMoney),
    (NavEntry::Team, Permission::ReadTeam),
    (NavEntry::Limits, Permission::ReadMessages),
    (NavEntry::Held, Permission::ReadMessages),
    (NavEntry::Requests, Permission::ReadMessages),
    (NavEntry::Audit, Permission::ReadTeam),
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

    /// Fails like a page that does not exist if the account has no connection with this name.
    pub(super) fn require_connection(&self, portal: &Portal, name: &str) -> Result<(), NoPage> {
        let catalogue = portal.gateway.catalogue();
        let connection = catalogue.connection_by_name(name).and_then(|id| catalogue.connection(id));
        let is_own = connection.is_some_and(|connection| connection.account == self.account);
        if is_own { Ok(()) } else { Err(NoPage::NotFound) }
    }

    /// Returns the gateway with this user as the author of changes.
    pub(super) fn acting(&self, portal: &Portal) -> Acting {
        let author = Author::user(&self.session.email, self.source.address);
        Acting { gateway: portal.gateway.clone(), author }
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
    pub(super) fn shell(&self, current: NavEntry) -> Shell {
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
            notices: self
                .low
                .as_ref()
                .map(|low| self.low_notice(low))
                .into_iter()
                .chain(self.invited_notice())
                .collect(),
            flash: self.done.as_deref().and_then(flash::of),
            has_profile: true,
        }
    }

    fn invited_notice(&self) -> Option<Notice> {
        let text = match self.invited_to.as_slice() {
            [] => return None,
            [account] => format!("You are invited to the account {account}."),
            several => format!("You are invited to {} accounts.", several.len()),
        };
        Some(Notice::new(Tone::Waiting, text).with_link("Invitations", "/invitations"))
    }

    fn low_notice(&self, low: &LowBalance) -> Notice {
        let LowBalance { level, available, below, currency } = low;
        let (available, below) = (amount(&available.to_string()), amount(&below.to_string()));
        let tone = if *level == BalanceLevel::Urgent { Tone::Bad } else { Tone::Warning };
        let text =
            format!("Low balance: {available} {currency} are available, below the warning at {below}.");
        Notice::new(tone, text).with_link("Billing", &self.path("billing"))
    }

    /// Shows a phone number as the role may see it.
    pub(super) fn shown_number(&self, number: Option<impl Into<String>>) -> Option<String> {
        let number = number.map(Into::into);
        if self.may(Permission::ReadTexts) { number } else { number.map(|number| masked(&number)) }
    }
}
