//! The tables of tokens that users hold (sessions of the portal, one-time links), and of customers' requests to the operator.

use crate::ops::{CustomerRequest, NewCustomerRequest, TokenDigest, TokenPurpose, UserToken};
use crate::tables::TableError;
use crate::tables::columns::one_column;
use crate::tables::described::{stored_fields, stored_table};
use hermod_domain::customer_request::{CustomerRequestKind, CustomerRequestState};
use hermod_domain::ids::AccountId;

one_column! {
    CustomerRequestKind: Number, |kind| kind.to_stored(), |number| CustomerRequestKind::from_stored(number);
    CustomerRequestState: Number, |state| state.to_stored(), |number| CustomerRequestState::from_stored(number);
    TokenDigest: Octets, |digest| (&digest.0).into(), |octets| (*octets).try_into().ok().map(TokenDigest);
    TokenPurpose: Number, |purpose| purpose.to_stored(), |number| TokenPurpose::from_stored(number);
}

stored_fields! {
    NewCustomerRequest { account, kind, subject, connection, details, by => author, now => made_at }
}

stored_table! {
    customer_request: CustomerRequest { id, request, state, ended_at, ended_by, reason }, key (id: u64),
    indexes [
        "INDEX customer_request_account ON customer_request (account, id)",
        "INDEX customer_request_state ON customer_request (state, id)",
    ]
}
stored_table! {
    user_token: UserToken { digest, user, purpose, made_at, expires_at, body }, key (digest: TokenDigest),
    indexes [
        "INDEX user_token_user ON user_token (\"user\")",
        "INDEX user_token_expiry ON user_token (expires_at)",
    ]
}

/// Reads customers' requests.
pub trait CustomerRequestRows {
    /// Returns the highest id; 0 if there is none. The newest request is never deleted, so ids are not used twice.
    fn last_customer_request(&self) -> Result<u64, TableError>;

    fn customer_request(&self, id: u64) -> Result<Option<CustomerRequest>, TableError>;

    /// Returns the requests of an account, the newest first, at most `limit`.
    fn customer_requests(&self, account: AccountId, limit: usize)
    -> Result<Vec<CustomerRequest>, TableError>;
}

/// Reads tokens of users.
pub trait UserTokenRows {
    fn user_token(&self, digest: &TokenDigest) -> Result<Option<UserToken>, TableError>;

    /// Returns all tokens of a user, at most `limit`.
    fn user_tokens(&self, user: u32, limit: usize) -> Result<Vec<UserToken>, TableError>;
}
