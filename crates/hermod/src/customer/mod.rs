//! What a customer does from the command line: send, ask what became of it, read replies, look at the balance.

pub(crate) mod balance;
mod credentials;
pub(crate) mod inbound;
pub(crate) mod send;
pub(crate) mod status;

use crate::client::{Answer, Ask, CallError, Client, Refused};
use crate::ending::Failure;
use crate::show;
use bytes::Bytes;
use clap::Args;
use credentials::Credentials;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request};
use std::path::PathBuf;

/// Where the API is, below the address of a gateway.
const API_PATH: &str = "/api/v1";

/// Shown under the help of each of these commands.
pub(crate) const CREDENTIALS_HELP: &str = "\
Address and credentials come from the options, from HERMOD_URL, HERMOD_API_KEY and
HERMOD_API_SECRET, or from ~/.config/hermod/credentials.toml, which only you may read (chmod 600):
    url = \"https://sms.example.com\"
    api_key = \"shop-key-1\"
    api_secret = \"...\"";

#[derive(Args)]
#[command(next_help_heading = "Address and credentials")]
pub(crate) struct Access {
    /// Address of the gateway; without a path, /api/v1 is meant
    #[arg(long, env = "HERMOD_URL", value_name = "URL")]
    url: Option<String>,
    /// The API key
    #[arg(long, env = "HERMOD_API_KEY", value_name = "KEY", hide_env_values = true)]
    api_key: Option<String>,
    /// File with the API secret in its first line; - reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "api_secret")]
    api_secret_file: Option<PathBuf>,
    /// The API secret itself, if you insist: here every user of this machine can see it in the list of processes, and
    /// your shell writes it into its history. The environment, a file or credentials.toml keep it to yourself
    #[arg(long, env = "HERMOD_API_SECRET", value_name = "SECRET", hide_env_values = true)]
    api_secret: Option<String>,
    /// Another file instead of ~/.config/hermod/credentials.toml
    #[arg(long, env = "HERMOD_CREDENTIALS", value_name = "FILE")]
    credentials: Option<PathBuf>,
    /// Trust the certificate authorities in this file (PEM) instead of this machine's
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Allow http:// to another machine, where everyone on the way can read the secret
    #[arg(long)]
    plain_http: bool,
    /// Print the answer as it came, in JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Calls the API as one customer.
pub(crate) struct Customer {
    client: Client,
    credentials: Credentials,
    json: bool,
}

impl Access {
    pub(crate) fn customer(self) -> Result<Customer, Failure> {
        let (plain_http, json, ca) = (self.plain_http, self.json, self.ca.clone());
        let credentials = Credentials::find(self)?;
        if !credentials.url.is_private() && !plain_http {
            return Err(Failure::mend(format!(
                "{} would carry the secret readable to everyone on the way: use https://, or insist with --plain-http",
                credentials.url
            )));
        }
        let ca = ca.or_else(|| credentials.ca.clone());
        let client = Client::new(credentials.url.clone(), ca.as_deref()).map_err(Failure::mend)?;
        Ok(Customer { client, credentials, json })
    }
}

impl Customer {
    fn ask(&self, method: Method, path: &str, body: Option<String>) -> Ask {
        let mut ask = Request::new(Full::new(Bytes::from(body.clone().unwrap_or_default())));
        *ask.method_mut() = method;
        let whole = format!("{}{path}", self.client.url().path());
        *ask.uri_mut() = whole.parse().expect("a checked base and an escaped path");
        let headers = ask.headers_mut();
        headers.insert("x-api-key", self.credentials.key_header());
        headers.insert("x-api-secret", self.credentials.secret_header());
        if body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        ask
    }

    async fn call(&self, ask: Ask) -> Result<Answer, CallError> {
        self.client.call(ask).await
    }

    /// What is asked for can be asked for again, so a lost answer is a failure and no more.
    async fn get(&self, path: &str) -> Result<Answer, Failure> {
        let answer = self.call(self.ask(Method::GET, path, None)).await.map_err(Failure::failed)?;
        answer.accepted().map_err(|refused| self.refused(&refused))
    }

    fn refused(&self, refused: &Refused) -> Failure {
        if self.json {
            // The sentence is what must be heard, and that goes elsewhere.
            let _ = show::say_raw(&refused.body);
        }
        Failure::failed(refused)
    }
}
