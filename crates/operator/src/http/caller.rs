//! Who calls the operator API: what the role permits, what of a response is masked, and the reason that was given for seeing it.

use crate::input::words;
use crate::refusal::{OperatorRefusal, Result};
use crate::views::masking::Masking;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use hermod_domain::operator_role::{OperatorPermission, OperatorRole};
use hermod_domain::phone::hide_numbers;
use hermod_gateway::secrets::operator_token::TokenHolder;
use metrics::counter;

/// The header with the reason for which numbers and texts are shown whole.
const REASON: HeaderName = HeaderName::from_static("x-reason");
const REASON_CHARS_MIN: usize = 3;
const REASON_CHARS_MAX: usize = 200;

/// The caller of a route that permits the call.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) holder: TokenHolder,
    /// Method and path, with shortened numbers.
    pub(crate) request: String,
    /// Why the caller wants to see numbers and texts. Written into the audit log before the response is sent.
    pub(crate) reason: Option<String>,
}

impl Caller {
    /// Checks that the caller has the permission that a route needs, and may give the reason that the request gives.
    pub(crate) fn admit(head: &Parts, least: OperatorPermission) -> Result<Caller> {
        let holder = head.extensions.get::<TokenHolder>().cloned().ok_or(OperatorRefusal::InvalidToken)?;
        let request = format!("{} {}", head.method, hide_numbers(&decoded(head.uri.path())));
        let caller = Caller { holder, request, reason: reason_in(&head.headers)? };
        caller.expect(least)?;
        if caller.reason.is_some() {
            caller.expect(OperatorPermission::Personal)?;
        }
        if least == OperatorPermission::Personal && caller.masking() == Masking::Masked {
            return Err(caller.refused(OperatorRefusal::ReasonNeeded));
        }
        Ok(caller)
    }

    pub(crate) fn may(&self, permission: OperatorPermission) -> bool {
        self.role().may(permission)
    }

    /// Fails if the role does not have the permission.
    pub(crate) fn expect(&self, permission: OperatorPermission) -> Result<()> {
        if self.may(permission) {
            return Ok(());
        }
        Err(self.refused(OperatorRefusal::RoleNotAllowed { role: self.role(), permission }))
    }

    /// Counts and logs a refusal.
    fn refused(&self, refusal: OperatorRefusal) -> OperatorRefusal {
        let (role, request) = (self.role(), &self.request);
        counter!("hermod_operator_role_refusals_total", "role" => role.as_str()).increment(1);
        tracing::info!(operator = self.name(), %role, request, "Refused an operator: {refusal}");
        refusal
    }

    /// Returns how responses to the caller show numbers and texts.
    pub(crate) fn masking(&self) -> Masking {
        if self.role().may(OperatorPermission::WholeNumbers) || self.reason.is_some() {
            Masking::Whole
        } else {
            Masking::Masked
        }
    }

    fn role(&self) -> OperatorRole {
        self.holder.role()
    }

    fn name(&self) -> &str {
        match &self.holder {
            TokenHolder::DataFolder => "",
            TokenHolder::Named { name, .. } => name,
        }
    }
}

/// Decodes a path, in which a number or a name may be written with percent signs.
pub(crate) fn decoded(path: &str) -> String {
    let path = path.replace('+', "%2B").replace('&', "%26");
    let mut pairs: Vec<(String, String)> =
        serde_urlencoded::from_str(&format!("={path}")).unwrap_or_default();
    pairs.pop().map(|(_, path)| path).unwrap_or_default()
}

fn reason_in(headers: &HeaderMap) -> Result<Option<String>> {
    let mut given = headers.get_all(REASON).iter();
    let (reason, further) = (given.next(), given.next());
    let Some(reason) = reason else { return Ok(None) };
    let refused = |rule: &str| OperatorRefusal::InvalidField { field: "X-Reason", rule: rule.to_owned() };
    if further.is_some() {
        return Err(refused("is given twice"));
    }
    let text = std::str::from_utf8(reason.as_bytes()).map_err(|_| refused("is not UTF-8"))?;
    words("X-Reason", text.trim().to_owned(), REASON_CHARS_MIN, REASON_CHARS_MAX).map(Some)
}
