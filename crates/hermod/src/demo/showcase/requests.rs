//! Requests of the showcase accounts: one accepted, one declined, two open.

use super::super::history::{DemoAnswer, DemoRequest, Timestamp};
use super::super::seed::PORTAL_EMAIL;
use hermod_operator::customer_request::views::CustomerRequestDraft;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);

/// Returns the requests, the oldest first. All are older than the webhook of `kite`.
pub(super) fn all(now: Timestamp) -> Vec<DemoRequest> {
    let accepted =
        DemoAnswer::Accepted { note: "Registered with the carriers of all your countries.".to_owned() };
    let declined = DemoAnswer::Declined {
        reason: "Your peak is below 50 requests a second. Request it again when you reach 40.".to_owned(),
    };
    let sender = draft("sender", "AuroraVIP", "", "Invitations for regular customers");
    let rate = draft("rate", "200", "aurora-api", "The winter sale begins soon");
    let country = draft("country", "ES", "", "Airport transfers in Malaga from spring on");
    vec![
        request(now.minus(HOUR * 30), "aurora", sender, Some((HOUR * 3, accepted))),
        request(now.minus(HOUR * 22), "aurora", rate, Some((HOUR * 2, declined))),
        request(now.minus(HOUR * 5), "kite", country, None),
        request(now.minus(HOUR), "kite", draft("top-up", "100", "", ""), None),
    ]
}

fn draft(kind: &str, subject: &str, connection: &str, details: &str) -> CustomerRequestDraft {
    let [kind, subject, connection, details] = [kind, subject, connection, details].map(str::to_owned);
    CustomerRequestDraft { kind, subject, connection, details }
}

fn request(
    at: Timestamp,
    account: &str,
    draft: CustomerRequestDraft,
    answer: Option<(Duration, DemoAnswer)>,
) -> DemoRequest {
    DemoRequest { at, account: account.to_owned(), by: PORTAL_EMAIL.to_owned(), draft, answer }
}
