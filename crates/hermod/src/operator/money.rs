//! `hermod topup`, `invoice`, `payment` and `adjust`: post ledger entries. Each has a reference, generated if none is given,
//! so that a retry after a lost response posts nothing twice.

use super::account_details::balance_fields;
use super::entries;
use super::operator_client::{OperatorClient, RequestBody};
use super::target::ClientCommand;
use crate::client::{ApiResponse, CallError};
use crate::failure::{CommandResult, Failure};
use crate::output;
use clap::Args;
use hermod_gateway::secrets::random_token;
use hermod_operator::kind::Kind;
use hermod_operator::money::views::{PostRequest, PostedView};
use hermod_operator::views::amount::AmountInput;
use hyper::Method;

const REFERENCE_CHARACTERS: usize = 20;

/// Makes a command that posts ledger entries of one kind.
macro_rules! posting_command {
    ($(#[$about:meta])* $command:ident posts $kind:literal, $(#[$amount_help:meta])* $amount:ty) => {
        #[derive(Args)]
        $(#[$about])*
        pub(crate) struct $command {
            /// The account
            account: String,
            $(#[$amount_help])*
            #[arg(allow_negative_numbers = true)]
            amount: $amount,
            #[command(flatten)]
            posting: Posting,
        }

        impl ClientCommand for $command {
            async fn run(self, client: &OperatorClient) -> CommandResult {
                self.posting.post(client, $kind, self.account, self.amount.into()).await
            }
        }
    };
}

posting_command! {
    /// Add money to an account
    #[command(after_help = "Examples:\n  hermod topup shop 100\n  \
                            hermod topup shop 49.90 --note 'bank transfer' --reference INV-2026-117\n\n\
                            Repeating a command with the same reference posts nothing twice.")]
    TopUpArgs posts "top-up",
    /// Amount in the account's currency
    String
}

posting_command! {
    /// Invoice an account: moves what it owes from its balance to its credit in use
    #[command(after_help = "Examples:\n  hermod invoice shop\n  hermod invoice shop 250 --reference INV-2026-118\n\n\
                            Without an amount, the invoice is for the whole amount owed. hermod payment settles it.")]
    InvoiceArgs posts "invoice",
    /// Amount [default: the whole amount owed]
    Option<String>
}

posting_command! {
    /// Record a payment of an account for its invoices
    #[command(after_help = "Examples:\n  hermod payment shop 250\n  hermod payment shop 250 --reference BANK-4711\n\n\
                            It reduces the credit in use; the excess goes to the balance.")]
    PaymentArgs posts "payment",
    /// Amount in the account's currency
    String
}

posting_command! {
    /// Correct an account's balance, up or down
    #[command(after_help = "Examples:\n  hermod adjust shop -5 --note 'charged twice for number 80808'\n  \
                            hermod adjust shop 2.50 --note goodwill")]
    AdjustArgs posts "adjustment",
    /// Amount in the account's currency; a negative amount reduces the balance
    String
}

#[derive(Args)]
struct Posting {
    /// Note for the record
    #[arg(long, value_name = "TEXT", default_value = "")]
    note: String,
    /// Your own id of the entry; the same reference is posted only once
    #[arg(long, value_name = "TEXT")]
    reference: Option<String>,
}

impl Posting {
    async fn post(
        self,
        client: &OperatorClient,
        kind: &'static str,
        account: String,
        amount: Option<String>,
    ) -> CommandResult {
        let Posting { note, reference } = self;
        let reference = match reference {
            Some(reference) => reference,
            None => random_token(REFERENCE_CHARACTERS).map_err(Failure::failed)?,
        };
        let path = format!("{}/ledger", entries::path(Kind::Account, &account));
        let amount = amount.as_deref().map(AmountInput::from_text);
        let request = PostRequest { kind: kind.to_owned(), amount, note, reference: Some(reference.clone()) };
        let response = send(client, &path, &RequestBody::json(&request)).await.map_err(|error| {
            Failure::failed(format!("{error}. Retry with --reference {reference}: it is posted only once"))
        })?;
        let response = response.accepted().map_err(|error| client.failure_of(&error))?;
        client.note_write();
        client.print(&response, |posted: PostedView| posted_text(&posted, &reference))
    }
}

/// Posts the entry, and retries once if the response is lost: the reference makes that safe.
async fn send(client: &OperatorClient, path: &str, body: &RequestBody) -> Result<ApiResponse, CallError> {
    match client.call(Method::POST, path, body).await {
        Err(CallError::Lost(sentence)) => {
            eprintln!("hermod: {sentence}; retrying with the same reference");
            client.call(Method::POST, path, body).await
        }
        outcome => outcome,
    }
}

fn posted_text(posted: &PostedView, reference: &str) -> String {
    let PostedView { repeated, kind, amount, balance, .. } = posted;
    let (account, currency) = (output::safe(&balance.account), &balance.currency);
    let sentence = if *repeated {
        format!("The {kind} of {amount} {currency} was posted to {account} before; nothing was posted now.")
    } else {
        format!("The {kind} of {amount} {currency} was posted to {account}.")
    };
    format!(
        "{sentence}\n  reference  {}\n\n{}",
        output::safe(reference),
        output::fields(&balance_fields(balance))
    )
}
