//! Every refusal as its caller gets it: code, class, wait and sentence.

use super::*;

#[track_caller]
fn check(refusal: Refusal, expect: &str) {
    let wait = refusal.retry_after_s().map_or(String::new(), |s| format!(" {s}"));
    assert_eq!(format!("{:?}{wait} | {refusal}", refusal.class()), expect);
}

#[test]
fn invalid_request_is_refused_with_its_remedy() {
    check(
        Refusal::InvalidJson("expected `,` at line 1 column 9".into()),
        "Permanent | INVALID_JSON: The body must be one JSON object: expected `,` at line 1 column 9.",
    );
    check(
        Refusal::InvalidContentType,
        "Permanent | INVALID_CONTENT_TYPE: Send the header Content-Type: application/json.",
    );
    check(
        Refusal::BodyTooLarge { bytes_max: 1_048_576 },
        "Permanent | BODY_TOO_LARGE: The body may have at most 1048576 bytes.",
    );
    check(
        Refusal::MissingField("text"),
        "Permanent | MISSING_FIELD: The field `text` is required and must not be empty.",
    );
    check(
        Refusal::InvalidField { field: "limit", rule: "it must be an integer from 1" },
        "Permanent | INVALID_FIELD: `limit` is not valid: it must be an integer from 1.",
    );
    check(
        Refusal::InvalidNumber(PhoneRefusal::MissingPlus),
        "Permanent | INVALID_NUMBER: `to` must be an E.164 number such as +4915112345678: it must begin with +.",
    );
    check(
        Refusal::InvalidSender(SenderRefusal::NameTooLong(12)),
        "Permanent | INVALID_SENDER: `from` is not a valid sender: a name has at most 11 characters, not 12.",
    );
    check(
        Refusal::InvalidSender(SenderRefusal::NoDefault),
        "Permanent | INVALID_SENDER: The connection has no default sender. Give `from`, or set a default in the \
         client portal.",
    );
    check(
        Refusal::TextTooLong { chars: 1601 },
        "Permanent | TEXT_TOO_LONG: The text has 1601 characters; at most 1600 can be sent.",
    );
    check(
        Refusal::TooManyParts { parts: 4, parts_max: 3 },
        "Permanent | TEXT_TOO_LONG: The text needs 4 parts; this connection allows at most 3.",
    );
    check(
        Refusal::MethodNotAllowed { allow: "GET, HEAD" },
        "Permanent | METHOD_NOT_ALLOWED: This path allows only GET, HEAD.",
    );
    check(
        Refusal::NotFound(NotFound::Message),
        "Permanent | NOT_FOUND: This account has no message with that id.",
    );
    check(Refusal::NotFound(NotFound::Path), "Permanent | NOT_FOUND: This path does not exist.");
}

#[test]
fn forbidden_request_is_refused_with_its_remedy() {
    let acme = Sender::parse("Acme").unwrap();
    check(
        Refusal::InvalidApiKey,
        "Permanent | INVALID_API_KEY: The API key or its secret is missing, wrong, expired or revoked. Check both in \
         the client portal.",
    );
    check(
        Refusal::IpNotAllowed(IpAddr::from([192, 0, 2, 7])),
        "Permanent | IP_NOT_ALLOWED: The source IP 192.0.2.7 is not allowed. Add it to the lists of the key and of \
         the connection.",
    );
    check(
        Refusal::AccountSuspended,
        "Permanent | ACCOUNT_SUSPENDED: The account is suspended. The client portal says why.",
    );
    check(
        Refusal::VerificationRequired,
        "Permanent | VERIFICATION_REQUIRED: The account must complete its identity verification before it can send.",
    );
    check(
        Refusal::SenderNotApproved(acme),
        "Permanent | SENDER_NOT_APPROVED: The sender Acme is not approved for this account. Register it, or use one \
         that is.",
    );
    check(
        Refusal::SenderBlocked(acme),
        "Permanent | SENDER_BLOCKED: The sender Acme is blocked. Use another one.",
    );
    check(
        Refusal::RecipientOptedOut,
        "Permanent | RECIPIENT_OPTED_OUT: The recipient has opted out of messages from this account. Do not send to \
         this number again.",
    );
    check(
        Refusal::CountryBlocked,
        "Permanent | COUNTRY_BLOCKED: The destination country is not enabled on this account.",
    );
    check(
        Refusal::DestinationBlocked,
        "Permanent | DESTINATION_BLOCKED: The operator has blocked this number. Ask the operator if you need to send \
         to it.",
    );
    check(
        Refusal::HeldForReview,
        "Permanent | HELD_FOR_REVIEW: The message was not accepted: it is held for review. Send it again after its \
         approval.",
    );
    check(
        Refusal::NoPrice,
        "Permanent | NO_PRICE: There is no price for this destination. Ask the operator to add one.",
    );
    check(Refusal::NoRoute, "Permanent | NO_ROUTE: There is no route to this destination. Check the number.");
    check(
        Refusal::InsufficientCredit {
            cost: Money::from_micros(112_500),
            available: Money::from_micros(-500_000),
        },
        "Permanent | INSUFFICIENT_CREDIT: The message costs 0.1125 and -0.5 is available. Top up the account.",
    );
}

#[test]
fn temporary_refusal_says_when_to_retry() {
    check(
        Refusal::RateLimited { limit: RateLimit::Connection, retry_after_s: 1 },
        "Temporary 1 | RATE_LIMITED: Too many requests on this connection. Try again in 1 s, backing off.",
    );
    check(
        Refusal::RateLimited { limit: RateLimit::FailedSignIns, retry_after_s: 30 },
        "Temporary 30 | RATE_LIMITED: Too many failed sign-ins from this address. Try again in 30 s.",
    );
    check(
        Refusal::TrafficControl { retry_after_s: 3600 },
        "Temporary 3600 | TRAFFIC_CONTROL: A traffic control of the account rejected this message. Try again in 3600 s.",
    );
    check(
        Refusal::NoShortId { retry_after_s: 60 },
        "Temporary 60 | NO_SHORT_ID: The next short message ids of SMPP 3.3 are all in use. Bind with SMPP 3.4, or try again in 60 s.",
    );
    check(
        Refusal::SubmitFailed,
        "Temporary | SUBMIT_FAILED: The message was not accepted because of an internal error. Try again.",
    );
    for (cause, says) in [
        (Unavailable::StoreAway, "The message store cannot be reached."),
        (Unavailable::DiskLow, "The gateway is short of disk space."),
        (Unavailable::QueueFull, "Too many messages are waiting."),
        (Unavailable::Draining, "The gateway is shutting down."),
        (Unavailable::Held, "The gateway is held for maintenance."),
        (Unavailable::KeyInFlight, "An earlier request with this idempotency key is still being processed."),
        (Unavailable::BodiesFull, "Too many large requests are arriving."),
        (Unavailable::SetupChanged, "The operator changed the setup at this moment."),
    ] {
        check(
            Refusal::GatewayUnavailable { cause, retry_after_s: 5 },
            &format!(
                "Temporary 5 | GATEWAY_UNAVAILABLE: {says} Nothing was accepted or charged. Try again in 5 s."
            ),
        );
    }
}

#[test]
fn parse_errors_become_the_refusal_of_their_field() {
    for (refusal, code) in [
        (PhoneRefusal::NotDigits.into(), "INVALID_NUMBER"),
        (SenderRefusal::NoLetter.into(), "INVALID_SENDER"),
        (TextRefusal::Empty.into(), "MISSING_FIELD"),
        (TextRefusal::TooLong { chars: 1601 }.into(), "TEXT_TOO_LONG"),
    ] {
        let refusal: Refusal = refusal;
        assert_eq!(refusal.code(), code);
    }
}
