//! Commands of a customer, over the customer API: send, status, inbound, balance.

pub(crate) mod balance;
mod credentials;
pub(crate) mod inbound;
pub(crate) mod send;
pub(crate) mod status;

use crate::client::{ApiRequest, ApiResponse, CallError, ErrorResponse, HttpClient};
use crate::failure::Failure;
use crate::output;
use bytes::Bytes;
use clap::Args;
use credentials::ApiCredentials;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request};
use std::path::PathBuf;

/// The default path of the API.
const API_PATH: &str = "/api/v1";

/// Printed at the end of the help of these commands.
pub(crate) const CREDENTIALS_HELP: &str = "\
Address and credentials come from the options, from HERMOD_URL, HERMOD_API_KEY and
HERMOD_API_SECRET, or from ~/.config/hermod/credentials.toml, which must be readable only by you (chmod 600):
    url = \"https://sms.example.com\"
    api_key = \"shop-key-1\"
    api_secret = \"...\"";

#[derive(Args)]
#[command(next_help_heading = "Address and credentials")]
pub(crate) struct AccessArgs {
    /// Address of the gateway; the path defaults to /api/v1
    #[arg(long, env = "HERMOD_URL", value_name = "URL")]
    url: Option<String>,
    /// The API key
    #[arg(long, env = "HERMOD_API_KEY", value_name = "KEY", hide_env_values = true)]
    api_key: Option<String>,
    /// File with the API secret in its first line; - reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "api_secret")]
    api_secret_file: Option<PathBuf>,
    /// The API secret. On the command line it is visible to every user of this machine and in the history of the shell;
    /// prefer the environment, a file or credentials.toml
    #[arg(long, env = "HERMOD_API_SECRET", value_name = "SECRET", hide_env_values = true)]
    api_secret: Option<String>,
    /// Credentials file [default: ~/.config/hermod/credentials.toml]
    #[arg(long, env = "HERMOD_CREDENTIALS", value_name = "FILE")]
    credentials: Option<PathBuf>,
    /// Trust the certificate authorities in this file (PEM) instead of those of the system
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Allow http:// to another machine; the secret is then readable on the network
    #[arg(long)]
    plain_http: bool,
    /// Print the response as JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// A client of the customer API.
pub(crate) struct CustomerClient {
    client: HttpClient,
    credentials: ApiCredentials,
    json: bool,
}

impl AccessArgs {
    pub(crate) fn customer(self) -> Result<CustomerClient, Failure> {
        let (plain_http, json, ca) = (self.plain_http, self.json, self.ca.clone());
        let credentials = ApiCredentials::find(self)?;
        if !credentials.url.is_private() && !plain_http {
            return Err(Failure::usage(format!(
                "{} would send the secret unencrypted: use https://, or allow it with --plain-http",
                credentials.url
            )));
        }
        let ca = ca.or_else(|| credentials.ca.clone());
        let client = HttpClient::new(credentials.url.clone(), ca.as_deref()).map_err(Failure::usage)?;
        Ok(CustomerClient { client, credentials, json })
    }
}

impl CustomerClient {
    fn request(&self, method: Method, path: &str, body: Option<String>) -> ApiRequest {
        let mut request = Request::new(Full::new(Bytes::from(body.clone().unwrap_or_default())));
        *request.method_mut() = method;
        let whole = format!("{}{path}", self.client.url().path());
        *request.uri_mut() = whole.parse().expect("a checked base and an escaped path");
        let headers = request.headers_mut();
        headers.insert("x-api-key", self.credentials.key_header());
        headers.insert("x-api-secret", self.credentials.secret_header());
        if body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        request
    }

    async fn call(&self, request: ApiRequest) -> Result<ApiResponse, CallError> {
        self.client.call(request).await
    }

    /// Sends a GET request. An error response is a failure.
    async fn get(&self, path: &str) -> Result<ApiResponse, Failure> {
        let response = self.call(self.request(Method::GET, path, None)).await.map_err(Failure::failed)?;
        response.accepted().map_err(|error| self.failure_of(&error))
    }

    /// Returns the failure of an error response, after printing its body if the output is JSON.
    fn failure_of(&self, error: &ErrorResponse) -> Failure {
        if self.json {
            // The failure itself goes to standard error.
            let _ = output::print_json(&error.body);
        }
        Failure::failed(error)
    }
}
