//! `GET /balance`: the account's balance, credit and available amount.

use super::responses::json;
use crate::app::{AccountBalance, Caller, account_balance};
use crate::gateway::Gateway;
use axum::http::StatusCode;
use axum::response::Response;
use hermod_domain::catalogue::Terms;
use hermod_domain::refusal::Refusal;

pub(super) async fn show(gateway: &Gateway, caller: &Caller) -> Result<Response, Refusal> {
    Ok(json(StatusCode::OK, record(&account_balance(gateway, caller).await?)))
}

/// Writes amounts as exact JSON numbers, from their decimal text.
fn record(view: &AccountBalance) -> String {
    let AccountBalance { balance, currency, credit_limit, credit_used, available, terms } = view;
    let (terms, postpaid) = match terms {
        Terms::Prepaid => ("prepaid", false),
        Terms::Postpaid => ("postpaid", true),
    };
    format!(
        concat!(
            r#"{{"balance":{},"currency":"{}","credit_limit":{},"credit_used":{},"available":{},"#,
            r#""payment_terms":"{}","postpaid":{}}}"#
        ),
        balance, currency, credit_limit, credit_used, available, terms, postpaid
    )
}
