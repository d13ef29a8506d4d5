//! Fixture: the operator API with its token on a small store.

use crate::openapi_check;
use axum::Router;
use axum::body::Body;
use axum::http::request::Builder;
use axum::http::{HeaderMap, Request, Response};
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use hermod_gateway::clock::Clock;
use hermod_gateway::config::Source;
use hermod_gateway::edges::http_api;
use hermod_gateway::gateway::{Gateway, load_catalogue};
use hermod_gateway::http::{ConnectionInfo, Reach};
use hermod_gateway::secrets::Pepper;
use hermod_gateway::secrets::operator_token::OperatorToken;
use hermod_gateway::workers::Workers;
use hermod_operator::author::Author;
use hermod_operator::http::OperatorApi;
use hermod_operator::setup;
use hermod_operator::setup::file_entries::WantedSetup;
use hermod_store::{OpenOptions, Store};
use http_body_util::BodyExt;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

pub(crate) const TOKEN: &str = "a-token-for-tests-of-the-operator-api";

/// One carrier for every number, one price, one customer with balance 10.
pub(crate) const SETUP: &str = r#"
[[carrier]]
name = "acme"
address = "127.0.0.1:1"
system_id = "hermod"
password = "carr-pw"
window = 10
rate = 100

[[route]]
prefix = "*"
carriers = ["acme"]

[[price]]
prefix = "*"
per_part = "0.05"

[[account]]
name = "shop"
currency = "EUR"
opening_balance = "10"
verified = true
countries = ["DE"]
senders = ["Shop"]

[[connection]]
name = "shop-http"
account = "shop"
default_sender = "Shop"

[[key]]
key = "shop-key"
secret = "shop-secret-text-of-many-characters"
connection = "shop-http"
"#;

pub(crate) struct ApiFixture {
    pub(crate) gateway: Arc<Gateway>,
    router: Router,
    api: OperatorApi,
    _folder: Arc<TempDir>,
}

pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
    pub(crate) body: Value,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    #[track_caller]
    pub(crate) fn error(&self) -> &str {
        self.body["error"].as_str().unwrap_or_else(|| panic!("no error in {}", self.text))
    }

    /// Returns status and error in one line.
    #[track_caller]
    pub(crate) fn status_and_error(&self) -> String {
        format!("{} {}", self.status, self.error())
    }

    /// Returns the result of each change.
    pub(crate) fn changes(&self) -> String {
        let changes =
            self.body["changes"].as_array().unwrap_or_else(|| panic!("no changes in {}", self.text));
        let told = changes.iter().map(|change| {
            let text = |field: &str| change[field].as_str().unwrap_or("?").to_owned();
            format!("{} {} {}", text("effect"), text("kind"), text("name"))
        });
        told.collect::<Vec<_>>().join(", ")
    }
}

/// Begins a request with this token.
pub(crate) fn request(token: &str, method: &str, path: &str) -> Builder {
    Request::builder()
        .method(method)
        .uri(format!("/operator/v1{path}"))
        .header("Authorization", format!("Bearer {token}"))
}

impl ApiFixture {
    pub(crate) async fn open() -> ApiFixture {
        ApiFixture::open_with(SETUP).await
    }

    pub(crate) async fn open_with(setup: &str) -> ApiFixture {
        ApiFixture::open_keeping(setup, false).await
    }

    /// Returns the fixture of a running gateway that keeps the record.
    pub(crate) async fn with_record() -> ApiFixture {
        ApiFixture::open_keeping(SETUP, true).await.running()
    }

    async fn open_keeping(setup: &str, record: bool) -> ApiFixture {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::manual(Timestamp::parse("2026-06-15T12:00:00Z").unwrap());
        let store = Store::open(&OpenOptions {
            folder: folder.path().to_owned(),
            server: None,
            low_water_bytes: 0,
            in_doubt_wait: Duration::from_secs(60),
            record,
            now: clock.now(),
        })
        .unwrap();
        let pepper = Pepper::new(b"pepper");
        let wanted = WantedSetup::parse(&Source { path: "setup".into(), text: setup.to_owned() }).unwrap();
        setup::apply(&store, &pepper, &wanted, &Author::operator(None), clock.now()).await.unwrap();
        let catalogue = load_catalogue(&store).await.unwrap();
        let token = OperatorToken::new(&pepper, TOKEN);
        let gateway = Arc::new(Gateway::new(clock, store, pepper, catalogue, Duration::from_secs(3600)));
        let api = OperatorApi::new(gateway.clone(), token, Workers::default());
        ApiFixture { gateway, router: api.clone().router(), api, _folder: Arc::new(folder) }
    }

    /// Returns the fixture of a running gateway with links.
    pub(crate) fn running(self) -> ApiFixture {
        let api = self.api.clone().of_running_gateway();
        ApiFixture { router: api.clone().router(), api, ..self }
    }

    /// Returns the fixture on a local listener. The caller's address is in a header.
    pub(crate) fn on_local_listener(&self) -> ApiFixture {
        let api = self.api.clone().reachable_from(Reach::ThisMachine);
        ApiFixture {
            gateway: self.gateway.clone(),
            router: api.clone().router(),
            api,
            _folder: self._folder.clone(),
        }
    }

    /// Returns the fixture on a public listener. The caller's address is in a header.
    pub(crate) fn on_public_listener(&self) -> ApiFixture {
        let api = self.api.clone().reachable_from(Reach::Anywhere);
        let (gateway, _folder) = (self.gateway.clone(), self._folder.clone());
        ApiFixture { gateway, router: api.clone().router(), api, _folder }
    }

    pub(crate) async fn post_from(&self, caller: &str, path: &str, body: Value) -> Reply {
        let request = Request::post(format!("/operator/v1{path}"))
            .header("Authorization", format!("Bearer {TOKEN}"))
            .header("Content-Type", "application/json")
            .header("Host", "localhost")
            .header("X-Caller", caller);
        let reply = self.send(request.body(body.to_string().into()).unwrap()).await;
        openapi_check::check("POST", path, &reply);
        reply
    }

    /// Sends a request. Its header X-Caller is the address of the TCP peer; without it, the request came from
    /// this process.
    pub(crate) async fn send(&self, request: Request<Body>) -> Reply {
        let (head, body) = self.respond(request).await.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let body = serde_json::from_str(&text).unwrap_or(Value::Null);
        Reply { status: head.status.as_u16(), headers: head.headers, text, body }
    }

    /// Sends a request. Returns the response, whose body may have no end.
    pub(crate) async fn respond(&self, mut request: Request<Body>) -> Response<Body> {
        if let Some(caller) = request.headers().get("x-caller") {
            let caller = caller.to_str().unwrap().parse().unwrap();
            let connection = ConnectionInfo::new(caller, Arc::default(), self.gateway.clock.clone());
            request.extensions_mut().insert(connection);
        }
        TowerToHyperService::new(self.router.clone()).call(request).await.unwrap()
    }

    /// Sends a GET whose response is read as it arrives. Returns its status and its body.
    pub(crate) async fn stream(&self, path: &str, last_event: Option<&str>) -> (u16, Body) {
        let request =
            Request::get(format!("/operator/v1{path}")).header("Authorization", format!("Bearer {TOKEN}"));
        let request = match last_event {
            Some(id) => request.header("Last-Event-ID", id),
            None => request,
        };
        let service = TowerToHyperService::new(self.router.clone());
        let response = service.call(request.body(Body::empty()).unwrap()).await.unwrap();
        (response.status().as_u16(), response.into_body())
    }

    /// Submits a message over the customer API. Returns its status and body.
    pub(crate) async fn submit(&self, to: &str, text: &str, headers: &[(&str, &str)]) -> (u16, Value) {
        let mut request = Request::post("/api/v1/sms")
            .header("Authorization", "Bearer shop-key:shop-secret-text-of-many-characters")
            .header("Content-Type", "application/json")
            .header("Host", "localhost");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = serde_json::json!({"to": to, "text": text}).to_string();
        let mut request = request.body(Body::from(body)).unwrap();
        let caller = "127.0.0.1".parse().unwrap();
        request.extensions_mut().insert(ConnectionInfo::new(
            caller,
            Arc::default(),
            self.gateway.clock.clone(),
        ));
        let service = TowerToHyperService::new(http_api::router(self.gateway.clone(), None, None));
        let (head, body) = service.call(request).await.unwrap().into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        (head.status.as_u16(), serde_json::from_slice(&bytes).unwrap())
    }

    pub(crate) async fn call(&self, method: &str, path: &str, kind: &str, body: impl Into<Body>) -> Reply {
        let mut request = request(TOKEN, method, path);
        if !kind.is_empty() {
            request = request.header("Content-Type", kind);
        }
        let reply = self.send(request.body(body.into()).unwrap()).await;
        openapi_check::check(method, path, &reply);
        reply
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.call("GET", path, "", "").await
    }

    pub(crate) async fn delete(&self, path: &str) -> Reply {
        self.call("DELETE", path, "", "").await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Reply {
        self.call("PUT", path, "application/json", body.to_string()).await
    }

    /// Sends a PUT with `If-None-Match`.
    pub(crate) async fn put_new(&self, path: &str, unless: &str, body: Value) -> Reply {
        let request = Request::put(format!("/operator/v1{path}"))
            .header("Authorization", format!("Bearer {TOKEN}"))
            .header("Content-Type", "application/json")
            .header("If-None-Match", unless);
        let reply = self.send(request.body(body.to_string().into()).unwrap()).await;
        openapi_check::check("PUT", path, &reply);
        reply
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> Reply {
        self.call("PATCH", path, "application/json", body.to_string()).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Reply {
        self.call("POST", path, "application/json", body.to_string()).await
    }

    pub(crate) async fn apply(&self, path: &str, text: &str) -> Reply {
        self.call("POST", path, "application/toml", text.to_owned()).await
    }

    pub(crate) fn account(&self, name: &str) -> AccountId {
        let catalogue = self.gateway.catalogue();
        let found = catalogue.accounts().find(|(_, view)| view.name == name).map(|(id, _)| id);
        found.unwrap()
    }
}
