//! The signed-in user of a request, and the user's role in the account of the path. An account of others looks like one that
//! does not exist.

use super::reply::{NoPage, csv, redirect};
use super::{Portal, cookie, flash};
use crate::elements::{Notice, Tone};
use crate::layout::{NavEntry, Shell, encode_segment};
use crate::numbers::amount;
use axum::body::Body;
use axum::extract::{FromRequestParts, Path};
use axum::http::Method;
use axum::http::request::Parts;
use axum::response::Response;
use hermod_domain::catalogue::{BalanceLevel, Role};
use hermod_domain::ids::AccountId;
use hermod_domain::permission::Permission;
use hermod_domain::phone::masked;
use hermod_domain::shown_number::NumberKind;
use hermod_gateway::app::{LowBalance, low_balance};
use hermod_gateway::gateway::Gateway;
use hermod_gateway::http::pages::PageSource;
use hermod_operator::author::{Acting, Author};
use hermod_operator::entry::views::SaveQuery;
use hermod_operator::kind::Kind;
use hermod_operator::refusal::OperatorRefusal;
use hermod_operator::setup::use_cases::patch_entry;
use hermod_operator::user::invitations::list_invitations;
use hermod_operator::user::sessions::{Session, find_session};
use hermod_operator::views::paging::RowNumber;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// Where a request came from.
pub(crate) struct From(pub(crate) PageSource);

impl<S: Send + Sync> FromRequestParts<S> for From {
    type Rejection = NoPage;

    async fn from_request_parts(head: &mut Parts, _: &S) -> Result<From, NoPage> {
        head.extensions.get::<PageSource>().cloned().map(From).ok_or(NoPage::Failed)
    }
}

/// The session of a request, if it has one.
pub(crate) struct MaybeSession(pub(crate) Option<Session>);

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
pub(crate) struct Signed(pub(crate) Session);

impl FromRequestParts<Arc<Portal>> for Signed {
    type Rejection = NoPage;

    async fn from_request_parts(head: &mut Parts, portal: &Arc<Portal>) -> Result<Signed, NoPage> {
        let MaybeSession(session) = MaybeSession::from_request_parts(head, portal).await?;
        // Only a page can be opened again after signing in, not a form.
        let is_page = head.method == Method::GET;
        let page = head.uri.path_and_query().filter(|_| is_page).map_or("/", |path| path.as_str());
        session.map(Signed).ok_or_else(|| NoPage::SignIn { next: page.to_owned() })
    }
}

/// A user in one of the user's accounts: that of the path, or on a page that belongs to no account the first one.
pub(crate) struct Member {
    pub(crate) portal: Arc<Portal>,
    pub(crate) session: Session,
    pub(crate) account: AccountId,
    pub(crate) account_name: String,
    pub(crate) role: Role,
    /// The names of all accounts of the user.
    accounts: Vec<String>,
    pub(crate) source: PageSource,
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
        let Signed(session) = Signed::from_request_parts(head, portal).await?;
        let names: Path<HashMap<String, String>> =
            Path::from_request_parts(head, portal).await.map_err(|_| NoPage::NotFound)?;
        let wanted = names.get("account");
        let catalogue = portal.gateway.catalogue();
        let (_, user) = catalogue.users().by_id(session.user).ok_or(NoPage::NotFound)?;
        if wanted.is_none() && user.memberships().next().is_none() {
            return Err(NoPage::NoAccount);
        }
        let memberships = user.memberships().filter_map(|membership| {
            let view = catalogue.account(membership.account)?;
            Some((view.name.clone(), membership.account, membership.role))
        });
        let memberships: Vec<(String, AccountId, Role)> = memberships.collect();
        let own = memberships.iter().find(|(name, ..)| wanted.is_none_or(|wanted| name == wanted));
        let (account_name, account, role) = own.ok_or(NoPage::NotFound)?.clone();
        let accounts = memberships.into_iter().map(|(name, ..)| name).collect();
        let From(source) = From::from_request_parts(head, portal).await?;
        let done = flash::code(head.uri.query().unwrap_or_default());
        let low = match role.may(Permission::ReadMoney) {
            true => low_balance(&portal.gateway, account).await.map_err(OperatorRefusal::from)?,
            false => None,
        };
        let invited_to = list_invitations(&portal.gateway, session.user).into_iter();
        let invited_to = invited_to.map(|invitation| invitation.account_name).collect();
        let portal = portal.clone();
        Ok(Member { portal, session, account, account_name, role, accounts, source, done, low, invited_to })
    }
}

impl Member {
    pub(crate) fn gateway(&self) -> &Arc<Gateway> {
        &self.portal.gateway
    }

    pub(crate) fn may(&self, permission: Permission) -> bool {
        self.role.may(permission)
    }

    /// Fails with the page that says so if the role has not this permission.
    pub(crate) fn require(&self, permission: Permission) -> Result<(), NoPage> {
        if self.may(permission) { Ok(()) } else { Err(NoPage::Forbidden(self.role)) }
    }

    /// Fails with the page that asks for the password if it was not typed a short while ago. Afterwards the browser goes to the
    /// page `back` of this account.
    pub(crate) fn require_confirmed(&self, back: &str) -> Result<(), NoPage> {
        if self.session.is_confirmed {
            return Ok(());
        }
        Err(NoPage::Confirm { account: self.account_name.clone(), next: self.path(back) })
    }

    /// Fails like a page that does not exist if the account has no connection with this name.
    pub(crate) fn require_connection(&self, name: &str) -> Result<(), NoPage> {
        let catalogue = self.gateway().catalogue();
        let connection = catalogue.connection_by_name(name).and_then(|id| catalogue.connection(id));
        let is_own = connection.is_some_and(|connection| connection.account == self.account);
        if is_own { Ok(()) } else { Err(NoPage::NotFound) }
    }

    /// Returns the gateway with this user as the author of changes.
    pub(crate) fn acting(&self) -> Acting {
        let author = Author::user(&self.session.email, self.source.address);
        Acting { gateway: self.gateway().clone(), author }
    }

    /// Changes these fields of an entry of the account.
    pub(crate) async fn patch<const N: usize>(
        &self,
        kind: Kind,
        name: &str,
        fields: [(&str, Value); N],
    ) -> Result<(), OperatorRefusal> {
        let patch = fields.map(|(field, value)| (field.to_owned(), value)).into_iter().collect();
        patch_entry(&self.acting(), kind, name, &SaveQuery::default(), patch).await.map(drop)
    }

    /// Returns the row after which a list goes on, by the number that the customer sees.
    pub(crate) fn row_number(&self, kind: NumberKind, shown: Option<u64>) -> Option<RowNumber> {
        shown.map(|shown| RowNumber::from(self.gateway().numbers.read(kind, shown)))
    }

    /// Returns the address of the page on which a list goes on after this row.
    pub(crate) fn next_rows(&self, page: &str, kind: NumberKind, next: Option<u64>) -> Option<String> {
        next.map(|next| format!("{}?before={}", self.path(page), self.gateway().numbers.show(kind, next)))
    }

    /// Returns the address of a page of this account, such as `keys`.
    pub(crate) fn path(&self, page: &str) -> String {
        format!("/accounts/{}/{page}", encode_segment(&self.account_name))
    }

    /// Leads to a page of this account, which says what was done: a code of [`flash`].
    pub(crate) fn done(&self, page: &str, code: &'static str) -> Response {
        redirect(&format!("{}?done={code}", self.path(page)))
    }

    /// Returns a file that the browser saves under a name with the day.
    pub(crate) fn csv_of_today(&self, name: &str, content: impl Into<Body>) -> Response {
        csv(&format!("{name}-{}", self.gateway().clock.now().day()), content)
    }

    /// Returns what surrounds a page of this account.
    pub(crate) fn shell(&self, current: NavEntry) -> Shell {
        Shell {
            account: self.account_name.clone(),
            accounts: self.accounts.clone(),
            email: self.session.email.clone(),
            role: self.role.as_str().to_owned(),
            csrf: self.session.csrf.clone(),
            visible: NavEntry::visible_to(self.role),
            current: Some(current),
            notices: self.low_notice().into_iter().chain(self.invited_notice()).collect(),
            flash: self.done.as_deref().and_then(flash::of),
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

    fn low_notice(&self) -> Option<Notice> {
        let LowBalance { level, available, below, currency } = self.low.as_ref()?;
        let (available, below) = (amount(&available.to_string()), amount(&below.to_string()));
        let tone = if *level == BalanceLevel::Urgent { Tone::Bad } else { Tone::Warning };
        let text =
            format!("Low balance: {available} {currency} are available, below the warning at {below}.");
        Some(Notice::new(tone, text).with_link("Billing", &self.path("billing")))
    }

    /// Shows a phone number as the role may see it.
    pub(crate) fn shown_number(&self, number: Option<impl Into<String>>) -> Option<String> {
        let number = number.map(Into::into);
        if self.may(Permission::ReadTexts) { number } else { number.map(|number| masked(&number)) }
    }
}
