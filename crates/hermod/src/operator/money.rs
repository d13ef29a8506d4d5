//! `hermod topup`, `invoice`, `payment` and `adjust`: an account's money, moved by hand. Each has a reference, made up if
//! there is none, so that doing it again after a lost answer moves nothing twice.

use super::desk::{Body, Desk};
use super::entries;
use super::place::{Absent, Place};
use super::standing::Balance;
use crate::client::{Amount, Answer, CallError};
use crate::ending::{Ended, Failure};
use crate::show;
use clap::Args;
use hermod_gateway::provision::Kind;
use hermod_gateway::secrets::random_token;
use hyper::Method;
use serde::Deserialize;
use serde_json::{Value, json};

const REFERENCE_CHARACTERS: usize = 20;

/// Add money to an account
#[derive(Args)]
#[command(after_help = "Examples:\n  hermod topup shop 100\n  \
                        hermod topup shop 49.90 --note 'bank transfer' --reference INV-2026-117\n\n\
                        The same reference again posts nothing again.")]
pub(crate) struct TopUp {
    /// The account
    account: String,
    /// How much, in the account's currency
    #[arg(allow_negative_numbers = true)]
    amount: String,
    #[command(flatten)]
    posting: Posting,
}

/// Move what an account owes from its balance to its credit in use
#[derive(Args)]
#[command(
    after_help = "Examples:\n  hermod invoice shop\n  hermod invoice shop 250 --reference INV-2026-118\n\n\
                        Without an amount it is all that is owed. The account's payment settles it: hermod payment."
)]
pub(crate) struct Invoice {
    /// The account
    account: String,
    /// How much; all that is owed if there is none
    #[arg(allow_negative_numbers = true)]
    amount: Option<String>,
    #[command(flatten)]
    posting: Posting,
}

/// Book what an account paid for its invoices
#[derive(Args)]
#[command(
    after_help = "Examples:\n  hermod payment shop 250\n  hermod payment shop 250 --reference BANK-4711\n\n\
                        It lowers the credit in use; what is more than that goes to the balance."
)]
pub(crate) struct Payment {
    /// The account
    account: String,
    /// How much
    #[arg(allow_negative_numbers = true)]
    amount: String,
    #[command(flatten)]
    posting: Posting,
}

/// Correct an account's balance, up or down
#[derive(Args)]
#[command(after_help = "Examples:\n  hermod adjust shop -5 --note 'charged twice for number 80808'\n  \
                        hermod adjust shop 2.50 --note goodwill")]
pub(crate) struct Adjust {
    /// The account
    account: String,
    /// How much; below zero takes away
    #[arg(allow_negative_numbers = true)]
    amount: String,
    #[command(flatten)]
    posting: Posting,
}

#[derive(Args)]
struct Posting {
    /// What it was for
    #[arg(long, value_name = "TEXT", default_value = "")]
    note: String,
    /// Your own name for it: nothing is posted twice under one
    #[arg(long, value_name = "TEXT")]
    reference: Option<String>,
    #[command(flatten)]
    place: Place,
}

#[derive(Deserialize)]
struct Posted {
    repeated: bool,
    kind: String,
    amount: Amount,
    balance: Balance,
}

impl TopUp {
    pub(crate) fn run(self) -> Ended {
        self.posting.post("top-up", self.account, Some(self.amount))
    }
}

impl Invoice {
    pub(crate) fn run(self) -> Ended {
        self.posting.post("invoice", self.account, self.amount)
    }
}

impl Payment {
    pub(crate) fn run(self) -> Ended {
        self.posting.post("payment", self.account, Some(self.amount))
    }
}

impl Adjust {
    pub(crate) fn run(self) -> Ended {
        self.posting.post("adjustment", self.account, Some(self.amount))
    }
}

impl Posting {
    fn post(self, kind: &'static str, account: String, amount: Option<String>) -> Ended {
        let Posting { note, reference, place } = self;
        let reference = match reference {
            Some(reference) => reference,
            None => random_token(REFERENCE_CHARACTERS).map_err(Failure::failed)?,
        };
        place.work(Absent::Refuse, async move |desk| {
            let path = format!("{}/ledger", entries::path(Kind::Account, &account));
            let mut body = json!({ "kind": kind, "note": note, "reference": reference });
            if let Some(amount) = amount {
                body["amount"] = Value::from(amount);
            }
            let answer = send(desk, &path, &body).await.map_err(|error| {
                Failure::failed(format!(
                    "{error}. Do it again with --reference {reference}: it is posted once"
                ))
            })?;
            let answer = answer.accepted().map_err(|refused| desk.refused(&refused))?;
            desk.note_write();
            desk.tell(&answer, |posted: Posted| told(&posted, &reference))
        })
    }
}

/// Once more if the answer is lost: with its reference that is the same as asking what became of it.
async fn send(desk: &Desk, path: &str, body: &Value) -> Result<Answer, CallError> {
    match desk.call(Method::POST, path, &Body::Json(body)).await {
        Err(CallError::Lost(sentence)) => {
            eprintln!("hermod: {sentence}; trying once more with the same reference");
            desk.call(Method::POST, path, &Body::Json(body)).await
        }
        outcome => outcome,
    }
}

fn told(posted: &Posted, reference: &str) -> String {
    let Posted { repeated, kind, amount, balance } = posted;
    let (account, currency) = (show::safe(&balance.account), &balance.currency);
    let sentence = if *repeated {
        format!("The {kind} of {amount} {currency} was posted to {account} before; nothing was posted now.")
    } else {
        format!("The {kind} of {amount} {currency} is posted to {account}.")
    };
    format!("{sentence}\n  reference  {}\n\n{}", show::safe(reference), balance.text())
}
