//! A customer and the product's verbs: sends, sees, has.

use super::http::{self, HttpAnswer};
use crate::real_time::{PATIENCE, now, pause};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;

#[derive(Clone)]
pub(crate) struct Customer {
    key: String,
    secret: String,
    address: SocketAddr,
}

impl Customer {
    pub(crate) fn new(name: &str, address: SocketAddr) -> Customer {
        Customer { key: format!("{name}-key"), secret: format!("{name}-secret-of-many-characters"), address }
    }

    /// From now on at this address.
    pub(crate) fn calls(&mut self, address: SocketAddr) {
        self.address = address;
    }

    pub(crate) async fn sends(&self, to: &str, text: &str) -> HttpAnswer {
        self.posts(&[], to, text).await
    }

    pub(crate) async fn sends_with_key(&self, to: &str, text: &str, key: &str) -> HttpAnswer {
        self.posts(&[("Idempotency-Key", key)], to, text).await
    }

    /// As `sends`, for when there may be nobody to answer.
    pub(crate) async fn tries_to_send(&self, to: &str, text: &str) -> std::io::Result<HttpAnswer> {
        self.tries_to_post(&[], to, text).await
    }

    async fn posts(&self, headers: &[(&str, &str)], to: &str, text: &str) -> HttpAnswer {
        self.tries_to_post(headers, to, text).await.expect("an answer to a send")
    }

    async fn tries_to_post(
        &self,
        headers: &[(&str, &str)],
        to: &str,
        text: &str,
    ) -> std::io::Result<HttpAnswer> {
        let body = json!({ "to": to, "text": text }).to_string();
        self.tries_to_post_body(headers, &body).await
    }

    /// Sends a body of the story's own.
    pub(crate) async fn posts_body(&self, body: &str) -> HttpAnswer {
        self.tries_to_post_body(&[], body).await.expect("an answer to a send")
    }

    async fn tries_to_post_body(&self, headers: &[(&str, &str)], body: &str) -> std::io::Result<HttpAnswer> {
        let mut all = vec![
            ("Content-Type", "application/json"),
            ("X-API-Key", self.key.as_str()),
            ("X-API-Secret", self.secret.as_str()),
        ];
        all.extend_from_slice(headers);
        http::call(self.address, "POST", "/api/v1/sms", &all, body).await
    }

    /// The status record of a message that must be there.
    pub(crate) async fn asks_for(&self, message: &str) -> Value {
        let answer = self.asks(message).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.body
    }

    pub(crate) async fn asks(&self, message: &str) -> HttpAnswer {
        self.gets(&format!("/api/v1/sms/{message}")).await
    }

    pub(crate) fn sees<'a>(&'a self, message: &str) -> Sees<'a> {
        Sees { customer: self, message: message.to_owned() }
    }

    /// Checks the balance, as decimal text: JSON numbers are not compared through floats here either.
    pub(crate) async fn has(&self, balance: &str) {
        let answer = self.gets("/api/v1/balance").await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let expected: Value = serde_json::from_str(balance).expect("a number");
        assert_eq!(
            answer.body["balance"].as_f64(),
            expected.as_f64(),
            "the balance is {}",
            answer.body["balance"]
        );
    }

    /// What came in behind this number: sender, recipient and text of each.
    pub(crate) async fn reads_inbound(&self, since: u64) -> Vec<(String, String, String)> {
        let answer = self.gets(&format!("/api/v1/inbound?since={since}")).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let text = |message: &Value, field: &str| message[field].as_str().expect("a text").to_owned();
        let messages = answer.body["messages"].as_array().expect("a list").iter();
        messages.map(|it| (text(it, "from"), text(it, "to"), text(it, "text"))).collect()
    }

    /// Waits until so many have come in, and gives their texts.
    pub(crate) async fn has_inbound(&self, count: usize) -> Vec<String> {
        let started = now();
        loop {
            let read = self.reads_inbound(0).await;
            if read.len() >= count {
                assert_eq!(read.len(), count, "{read:?}");
                return read.into_iter().map(|(_, _, text)| text).collect();
            }
            assert!(started.elapsed() < PATIENCE, "still {read:?} after {PATIENCE:?}, not {count}");
            pause(Duration::from_millis(20)).await;
        }
    }

    pub(crate) async fn gets(&self, path: &str) -> HttpAnswer {
        let headers = [("X-API-Key", self.key.as_str()), ("X-API-Secret", self.secret.as_str())];
        http::call(self.address, "GET", path, &headers, "").await.expect("an answer")
    }
}

/// What a customer sees of a message.
pub(crate) struct Sees<'a> {
    customer: &'a Customer,
    message: String,
}

impl Sees<'_> {
    pub(crate) async fn is(self, status: &str) {
        assert_eq!(self.customer.asks_for(&self.message).await["status"], status);
    }

    /// Waits for the status to become this.
    pub(crate) async fn becomes(self, status: &str) {
        let started = now();
        loop {
            let seen = self.customer.asks_for(&self.message).await;
            if seen["status"] == status {
                return;
            }
            assert!(
                started.elapsed() < PATIENCE,
                "still {} after {PATIENCE:?}, not {status}",
                seen["status"]
            );
            pause(Duration::from_millis(20)).await;
        }
    }
}

impl HttpAnswer {
    /// The id of a message that must have been accepted.
    #[track_caller]
    pub(crate) fn accepted(self) -> String {
        assert_eq!(self.status, 202, "{}", self.body);
        self.body["message_id"].as_str().expect("a message id").to_owned()
    }
}
