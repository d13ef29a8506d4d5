//! Calls the operator API: of a running gateway over HTTP, or of a gateway that is opened in this process.

use super::in_process::InProcess;
use crate::client::{
    ApiRequest, ApiResponse, CALL_MAX, CallError, ErrorResponse, HttpClient, StreamedResponse,
};
use crate::failure::{CommandResult, Failure};
use crate::output;
use bytes::Bytes;
use hermod_gateway::config::Config;
use hermod_gateway::secrets::Secret;
use hermod_operator::http::BASE;
use http_body_util::Full;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, IF_NONE_MATCH};
use hyper::{Method, Request};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long a request with a file may take: one of a hundred thousand entries is written in one transaction.
pub(super) const FILE_TIMEOUT: Duration = Duration::from_secs(300);

pub(crate) struct OperatorClient {
    transport: Transport,
    pub(super) json: bool,
    /// The data folder of the gateway, if it is known.
    folder: Option<PathBuf>,
    /// Why numbers and texts are to be shown whole.
    reason: Option<HeaderValue>,
    /// Whether the command stored anything.
    wrote: AtomicBool,
}

enum Transport {
    Remote { client: Box<HttpClient>, token: Secret },
    InProcess(Box<InProcess>),
}

/// Why a streamed response ended early.
pub(super) enum StreamError {
    Call(CallError),
    Refused(Failure),
}

impl StreamError {
    pub(super) fn failure(self) -> Failure {
        match self {
            StreamError::Call(error) => Failure::failed(error),
            StreamError::Refused(failure) => failure,
        }
    }
}

/// The body of a request.
pub(crate) enum RequestBody {
    None,
    Json(String),
    /// The body of an entry that must not exist yet.
    NewJson(String),
    Toml(String),
    Csv(Bytes),
    /// A file whose content says what it is.
    File(Bytes),
}

impl RequestBody {
    pub(crate) fn json(request: &impl Serialize) -> RequestBody {
        RequestBody::Json(to_json(request))
    }

    pub(super) fn new_json(request: &impl Serialize) -> RequestBody {
        RequestBody::NewJson(to_json(request))
    }
}

fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("requests and views have texts, numbers and lists")
}

/// Returns a path with a query string. Parameters without a value are left out.
pub(crate) fn with_query(path: &str, query: &impl Serialize) -> String {
    let query = serde_urlencoded::to_string(query).expect("a query has texts and numbers");
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

impl OperatorClient {
    pub(super) fn remote(client: HttpClient, token: Secret, json: bool) -> OperatorClient {
        let transport = Transport::Remote { client: Box::new(client), token };
        OperatorClient { transport, json, folder: None, reason: None, wrote: false.into() }
    }

    /// Gives this reason with every request.
    pub(super) fn giving_reason(self, reason: Option<HeaderValue>) -> OperatorClient {
        OperatorClient { reason, ..self }
    }

    /// Names the data folder of the gateway.
    pub(super) fn of_folder(self, folder: &Path) -> OperatorClient {
        OperatorClient { folder: Some(folder.to_owned()), ..self }
    }

    pub(super) fn in_process(gateway: InProcess, config: &Config, json: bool) -> OperatorClient {
        let folder = (!gateway.is_temporary()).then(|| config.data.folder.clone());
        let transport = Transport::InProcess(Box::new(gateway));
        OperatorClient { transport, json, folder, reason: None, wrote: false.into() }
    }

    /// Notes that the command stored something, so that the data folder is named at its end.
    pub(super) fn note_write(&self) {
        self.wrote.store(true, Ordering::Relaxed);
    }

    /// Prints the data folder that was written to, on standard error: a machine may have several gateways.
    pub(super) fn print_folder(&self) {
        let folder = self.folder.as_ref().filter(|_| self.wrote.load(Ordering::Relaxed));
        if let Some(folder) = folder {
            let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
            let runs = match self.transport {
                Transport::Remote { .. } => "its gateway runs",
                Transport::InProcess(_) => "no gateway runs there",
            };
            eprintln!("hermod: data folder {} ({runs})", folder.display());
        }
    }

    pub(super) async fn close(self) -> CommandResult {
        match self.transport {
            Transport::Remote { .. } => Ok(()),
            Transport::InProcess(gateway) => gateway.close().await,
        }
    }

    /// Whether something accepts connections at the address. The next request reports any other problem.
    pub(super) async fn is_reachable(&self) -> bool {
        !matches!(self.call(Method::GET, "/errors", &RequestBody::None).await, Err(CallError::Unreachable(_)))
    }

    /// Sends one request. `path` is escaped and relative to the API.
    pub(super) async fn call(
        &self,
        method: Method,
        path: &str,
        body: &RequestBody,
    ) -> Result<ApiResponse, CallError> {
        self.call_with_timeout(method, path, body, CALL_MAX).await
    }

    /// Sends one request whose response may take as long as `timeout`.
    pub(super) async fn call_with_timeout(
        &self,
        method: Method,
        path: &str,
        body: &RequestBody,
        timeout: Duration,
    ) -> Result<ApiResponse, CallError> {
        let request = self.request(method, path, body);
        match &self.transport {
            Transport::Remote { client, .. } => client.call_within(request, timeout).await,
            Transport::InProcess(gateway) => gateway.call(request).await,
        }
    }

    /// Makes a request with the token, and the reason if there is one.
    fn request(&self, method: Method, path: &str, body: &RequestBody) -> ApiRequest {
        let (base, token) = match &self.transport {
            Transport::Remote { client, token } => (client.url().path(), token),
            Transport::InProcess(gateway) => (BASE, gateway.token()),
        };
        let mut request = request(method, base, path, token, body);
        if let Some(reason) = &self.reason {
            request.headers_mut().insert("x-reason", reason.clone());
        }
        request
    }

    pub(super) async fn get(&self, path: &str) -> Result<ApiResponse, Failure> {
        self.send(Method::GET, path, RequestBody::None).await
    }

    /// Sends a request. An error response is a failure.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        body: RequestBody,
    ) -> Result<ApiResponse, Failure> {
        self.send_with_timeout(method, path, body, CALL_MAX).await
    }

    /// Sends a request whose response may take as long as `timeout`.
    pub(crate) async fn send_with_timeout(
        &self,
        method: Method,
        path: &str,
        body: RequestBody,
        timeout: Duration,
    ) -> Result<ApiResponse, Failure> {
        let response = self.call_with_timeout(method, path, &body, timeout).await;
        response.map_err(Failure::failed)?.accepted().map_err(|error| self.failure_of(&error))
    }

    /// Returns the response to a request whose body is a file. An error about the file names it.
    pub(super) fn accepted_file(&self, response: ApiResponse, file: &Path) -> Result<ApiResponse, Failure> {
        response.accepted().map_err(|error| match error.status {
            // The file is invalid.
            400 | 413 | 422 => {
                self.failure_of(&error);
                Failure::usage(format!("{}: {error}", file.display()))
            }
            _ => self.failure_of(&error),
        })
    }

    /// Requests a response that is sent while it is made, and passes its pieces on. `after` is the id of the last event that
    /// was received. Fails with the response of an error.
    pub(super) async fn stream(
        &self,
        path: &str,
        after: Option<u64>,
        piece: &mut dyn FnMut(&[u8]) -> Result<(), String>,
    ) -> Result<(), StreamError> {
        let mut request = self.request(Method::GET, path, &RequestBody::None);
        if let Some(after) = after {
            request.headers_mut().insert("last-event-id", HeaderValue::from(after));
        }
        let streamed = match &self.transport {
            Transport::Remote { client, .. } => client.stream(request, piece).await,
            Transport::InProcess(gateway) => gateway.stream(request, piece).await,
        };
        match streamed.map_err(StreamError::Call)? {
            StreamedResponse::Ended => Ok(()),
            StreamedResponse::Refused(response) => match response.accepted() {
                Ok(_) => Ok(()),
                Err(error) => Err(StreamError::Refused(self.failure_of(&error))),
            },
        }
    }

    /// Prints a file as it arrives.
    pub(crate) async fn print_file(&self, path: &str) -> CommandResult {
        let mut out = std::io::stdout().lock();
        let mut print = |piece: &[u8]| {
            let written = out.write_all(piece).and_then(|()| out.flush());
            written.map_err(|error| format!("cannot write to standard output: {error}"))
        };
        self.stream(path, None, &mut print).await.map_err(StreamError::failure)
    }

    /// Returns the failure of an error response, after printing its body if the output is JSON.
    pub(super) fn failure_of(&self, error: &ErrorResponse) -> Failure {
        if self.json {
            // The failure itself goes to standard error.
            let _ = output::print_json(&error.body);
        }
        match error.status {
            401 => Failure::failed(format!("{error} (give another one with --token-file)")),
            _ => Failure::failed(error),
        }
    }

    /// Prints a response: its JSON, or what `text` makes of the view.
    pub(super) fn print<T: DeserializeOwned>(
        &self,
        response: &ApiResponse,
        text: impl FnOnce(T) -> String,
    ) -> CommandResult {
        if self.json {
            output::print_json(&response.body)
        } else {
            output::print(&text(response.read_as().map_err(Failure::failed)?))
        }
    }

    /// Prints a view that was put together from several responses: as JSON, or the text.
    pub(super) fn print_view(&self, view: &impl Serialize, text: &str) -> CommandResult {
        if self.json { output::print_json(&to_json(view)) } else { output::print(text) }
    }
}

fn request(method: Method, base: &str, path: &str, token: &Secret, body: &RequestBody) -> ApiRequest {
    let (content_type, bytes) = match body {
        RequestBody::None => (None, Bytes::new()),
        RequestBody::Json(json) | RequestBody::NewJson(json) => {
            (Some("application/json"), Bytes::from(json.clone()))
        }
        RequestBody::Toml(text) => (Some("application/toml"), Bytes::from(text.clone())),
        RequestBody::Csv(file) => (Some("text/csv"), file.clone()),
        RequestBody::File(file) => (Some("application/octet-stream"), file.clone()),
    };
    let mut request = Request::new(Full::new(bytes));
    *request.method_mut() = method;
    *request.uri_mut() = format!("{base}{path}").parse().expect("a checked base and an escaped path");
    let mut bearer = HeaderValue::try_from(format!("Bearer {}", token.reveal())).expect("a checked token");
    bearer.set_sensitive(true);
    request.headers_mut().insert(AUTHORIZATION, bearer);
    if matches!(body, RequestBody::NewJson(_)) {
        request.headers_mut().insert(IF_NONE_MATCH, HeaderValue::from_static("*"));
    }
    if let Some(content_type) = content_type {
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    }
    request
}
