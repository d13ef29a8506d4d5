//! What the request log says about requests, for the operator, and what their caller does not get to know.

use crate::client::{Reply, bearer};
use crate::fixture::{Opening, SECRET, Service};
use crate::test_customers::{ACCOUNT_CLOSED, ACME, CLOSED, EXPIRING, REVOKED};
use hermod_domain::ids::{AccountId, ConnectionId};
use hermod_domain::phone::Msisdn;
use hermod_gateway::app::recipient_digest;
use hermod_store::record::{RequestEntry, RequestFilter, Scope};
use std::time::Duration;

async fn service() -> Service {
    Service::open(Opening { record: true, ..Opening::default() }).await
}

impl Service {
    /// Returns the rejected requests of the log, the oldest first.
    async fn rejected(&self) -> Vec<RequestEntry> {
        let store = &self.gateway.store;
        store.record().flush().await.unwrap();
        let filter = RequestFilter { rejected: true, ..RequestFilter::default() };
        let page = store.record().request_log(Scope::All, filter, None, 100).await.unwrap();
        page.rows.into_iter().rev().map(|(_, entry)| entry).collect()
    }

    async fn balance_with(&self, key: &str, secret: &str) -> Reply {
        let authorization = format!("Bearer {key}:{secret}");
        let headers = [("Authorization", authorization.as_str())];
        // Too many failures in a row would get 429.
        self.gateway.clock.advance(Duration::from_secs(6));
        self.client().await.call("GET", "/api/v1/balance", &headers, b"").await
    }
}

#[tokio::test]
async fn invalid_credentials_are_told_apart_in_the_log_and_not_to_the_caller() {
    let service = service().await;
    service.gateway.clock.advance(Duration::from_secs(3600));
    let owner =
        |account: u32, connection: u32| Some((AccountId::new(account), ConnectionId::new(connection)));
    let of = |key: &str| {
        let catalogue = service.gateway.catalogue();
        let connection = catalogue.key(key).unwrap().connection;
        Some((catalogue.connection(connection).unwrap().account, connection))
    };
    assert_eq!(of(ACME), owner(1, 1));
    let cases = [
        ("unknown-key", SECRET, None, "unknown API key"),
        (ACME, "wrong", of(ACME), "wrong secret"),
        (REVOKED, SECRET, of(REVOKED), "the API key is revoked"),
        (REVOKED, "wrong", of(REVOKED), "the API key is revoked"),
        (EXPIRING, SECRET, of(EXPIRING), "the API key has expired"),
        (CLOSED, SECRET, of(CLOSED), "the connection is closed"),
        (ACCOUNT_CLOSED, SECRET, of(ACCOUNT_CLOSED), "the account is closed"),
    ];
    let mut bodies = Vec::new();
    for (key, secret, ..) in cases {
        let reply = service.balance_with(key, secret).await;
        assert_eq!((reply.status, reply.code()), (401, "INVALID_API_KEY"), "{key}");
        bodies.push(reply.body);
    }
    let reply = service.client().await.call("GET", "/api/v1/balance", &[], b"").await;
    bodies.push(reply.body);
    assert!(bodies.iter().all(|body| *body == bodies[0]), "{bodies:?}");

    let log = service.rejected().await;
    let none = ("", "", None, "no credentials, or none that can be read");
    assert_eq!(log.len(), cases.len() + 1);
    for (entry, (key, _, owner, reason)) in log.iter().zip(cases.into_iter().chain([none])) {
        assert_eq!((entry.code.as_deref(), &*entry.reason), (Some("INVALID_API_KEY"), reason), "{key}");
        assert_eq!(entry.account.zip(entry.connection), owner, "{key}");
        assert!(!format!("{entry:?}").contains(SECRET), "{entry:?}");
    }
}

#[tokio::test]
async fn unknown_path_is_logged_without_query_numbers_and_what_may_be_a_secret() {
    let service = service().await;
    let authorization = bearer(ACME);
    let headers = [("Authorization", authorization.as_str())];
    let long = format!("/{}", "x".repeat(300));
    for (path, expect) in [
        ("/api/v2/sms?secret=s3cret&to=491512345678", "GET /api/v2/sms"),
        ("/api/v1/to/+491512345678", "GET /api/v1/…/…"),
        ("/a-secret-7f3a9c1e5d24/inbox", "GET /…/inbox"),
        ("/send/shop/hunterpassword/Anna/4711", "GET /send/…/…/…/…"),
        ("/cgi-bin/sendsms", "GET /cgi-bin/sendsms"),
        ("/4915/1123/4567/8", "GET /…/…/…/…"),
        (&long, "GET /…"),
    ] {
        let reply = service.client().await.call("GET", path, &headers, b"").await;
        assert_eq!((reply.status, reply.code()), (404, "NOT_FOUND"), "{path}");
        let log = service.rejected().await;
        let entry = log.last().unwrap();
        assert_eq!((&*entry.operation, &*entry.reason), (expect, "This path does not exist."));
    }
}

#[tokio::test]
async fn send_requests_have_the_digest_of_their_recipient_and_never_the_number() {
    let service = service().await;
    let digest = |number: &str| {
        let number = Msisdn::parse(number).unwrap();
        Some(recipient_digest(&service.gateway.pepper, number))
    };
    let to = "+4915112345678";
    for (body, status, expect) in [
        (format!(r#"{{"to":"{to}","text":"hello"}}"#), 202, digest(to)),
        (format!(r#"{{"to":"{to}","text":""}}"#), 400, digest(to)),
        (format!(r#"{{"to":"{to}","from":"{}","text":"hello"}}"#, "x".repeat(12)), 400, digest(to)),
        (r#"{"to":"4915112345678","text":"hello"}"#.to_owned(), 400, None),
        (r#"{"to":"#.to_owned(), 400, None),
    ] {
        let reply = service.client().await.send(ACME, &[], &body).await;
        assert_eq!(reply.status, status, "{body}: {}", reply.body);
        let store = &service.gateway.store;
        store.record().flush().await.unwrap();
        let page = store.record().request_log(Scope::All, RequestFilter::default(), None, 1).await.unwrap();
        let (_, line) = &page.rows[0];
        assert_eq!((line.status, line.recipient), (u32::from(status), expect), "{body}");
        assert!(!format!("{line:?}").contains("12345678"), "{line:?}");
    }
    assert_eq!(service.client().await.get(ACME, "/api/v1/balance").await.status, 200);
    let filter = RequestFilter { recipient: digest(to), rejected: true, ..RequestFilter::default() };
    service.gateway.store.record().flush().await.unwrap();
    let page = service.gateway.store.record().request_log(Scope::All, filter, None, 10).await.unwrap();
    assert_eq!(page.rows.len(), 2);
}
