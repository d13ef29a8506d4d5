//! An HTTP customer of a scenario.

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

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sets the gateway's address after a restart.
    pub(crate) fn set_address(&mut self, address: SocketAddr) {
        self.address = address;
    }

    pub(crate) async fn send(&self, to: &str, text: &str) -> HttpAnswer {
        self.post(&[], to, text).await
    }

    pub(crate) async fn send_with_key(&self, to: &str, text: &str, key: &str) -> HttpAnswer {
        self.post(&[("Idempotency-Key", key)], to, text).await
    }

    /// Like `send`, but returns connection errors.
    pub(crate) async fn try_send(&self, to: &str, text: &str) -> std::io::Result<HttpAnswer> {
        self.try_post(&[], to, text).await
    }

    async fn post(&self, headers: &[(&str, &str)], to: &str, text: &str) -> HttpAnswer {
        self.try_post(headers, to, text).await.expect("an answer to a send")
    }

    async fn try_post(&self, headers: &[(&str, &str)], to: &str, text: &str) -> std::io::Result<HttpAnswer> {
        let body = json!({ "to": to, "text": text }).to_string();
        self.try_post_body(headers, &body).await
    }

    /// Sends this request body.
    pub(crate) async fn post_body(&self, body: &str) -> HttpAnswer {
        self.try_post_body(&[], body).await.expect("an answer to a send")
    }

    async fn try_post_body(&self, headers: &[(&str, &str)], body: &str) -> std::io::Result<HttpAnswer> {
        let mut all = vec![
            ("Content-Type", "application/json"),
            ("X-API-Key", self.key.as_str()),
            ("X-API-Secret", self.secret.as_str()),
        ];
        all.extend_from_slice(headers);
        http::call(self.address, "POST", "/api/v1/sms", &all, body).await
    }

    /// Returns the status record of an existing message.
    pub(crate) async fn status_record(&self, message: &str) -> Value {
        let answer = self.get_message(message).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.body
    }

    pub(crate) async fn get_message(&self, message: &str) -> HttpAnswer {
        self.get(&format!("/api/v1/sms/{message}")).await
    }

    pub(crate) fn status_of<'a>(&'a self, message: &str) -> MessageStatus<'a> {
        MessageStatus { customer: self, message: message.to_owned() }
    }

    /// Asserts the account's balance.
    pub(crate) async fn assert_balance(&self, balance: &str) {
        let answer = self.get("/api/v1/balance").await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let expected: Value = serde_json::from_str(balance).expect("a number");
        assert_eq!(
            answer.body["balance"].as_f64(),
            expected.as_f64(),
            "the balance is {}",
            answer.body["balance"]
        );
    }

    /// Returns sender, recipient and text of the inbound messages after this number.
    pub(crate) async fn read_inbound(&self, since: u64) -> Vec<(String, String, String)> {
        let answer = self.get(&format!("/api/v1/inbound?since={since}")).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let text = |message: &Value, field: &str| message[field].as_str().expect("a text").to_owned();
        let messages = answer.body["messages"].as_array().expect("a list").iter();
        messages.map(|it| (text(it, "from"), text(it, "to"), text(it, "text"))).collect()
    }

    /// Waits for `count` inbound messages and returns their texts.
    pub(crate) async fn wait_for_inbound(&self, count: usize) -> Vec<String> {
        let started = now();
        loop {
            let read = self.read_inbound(0).await;
            if read.len() >= count {
                assert_eq!(read.len(), count, "{read:?}");
                return read.into_iter().map(|(_, _, text)| text).collect();
            }
            assert!(started.elapsed() < PATIENCE, "still {read:?} after {PATIENCE:?}, not {count}");
            pause(Duration::from_millis(20)).await;
        }
    }

    pub(crate) async fn get(&self, path: &str) -> HttpAnswer {
        let headers = [("X-API-Key", self.key.as_str()), ("X-API-Secret", self.secret.as_str())];
        http::call(self.address, "GET", path, &headers, "").await.expect("an answer")
    }
}

/// The status of a message, as the API returns it.
pub(crate) struct MessageStatus<'a> {
    customer: &'a Customer,
    message: String,
}

impl MessageStatus<'_> {
    pub(crate) async fn is(self, status: &str) {
        assert_eq!(self.customer.status_record(&self.message).await["status"], status);
    }

    /// Waits until the message has this status.
    pub(crate) async fn becomes(self, status: &str) {
        let started = now();
        loop {
            let seen = self.customer.status_record(&self.message).await;
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
    /// Returns the message id; panics if the message was not accepted.
    #[track_caller]
    pub(crate) fn accepted(self) -> String {
        assert_eq!(self.status, 202, "{}", self.body);
        self.body["message_id"].as_str().expect("a message id").to_owned()
    }
}
