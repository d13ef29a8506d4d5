//! Where operator commands are handed in: the operator API of a gateway that runs, or of one in this very process.

use super::here::Here;
use crate::client::{Answer, Ask, CallError, Client, Refused};
use crate::ending::{Ended, Failure};
use crate::show;
use bytes::Bytes;
use hermod_gateway::config::Config;
use hermod_gateway::edges::operator_api::BASE;
use hermod_gateway::secrets::Secret;
use http_body_util::Full;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, IF_NONE_MATCH};
use hyper::{Method, Request};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub(crate) struct Desk {
    way: Way,
    pub(super) json: bool,
    /// The data folder that is written to, if the command knows one.
    folder: Option<PathBuf>,
    /// Something was changed.
    wrote: AtomicBool,
}

enum Way {
    Remote { client: Box<Client>, token: Secret },
    Here(Box<Here>),
}

/// What a request carries.
pub(crate) enum Body<'a> {
    None,
    Json(&'a Value),
    /// Of something that must not be there yet.
    NewJson(&'a Value),
    Toml(&'a str),
}

impl Desk {
    pub(super) fn remote(client: Client, token: Secret, json: bool) -> Desk {
        Desk { way: Way::Remote { client: Box::new(client), token }, json, folder: None, wrote: false.into() }
    }

    /// The gateway that runs on this folder.
    pub(super) fn of_folder(self, folder: &Path) -> Desk {
        Desk { folder: Some(folder.to_owned()), ..self }
    }

    pub(super) fn here(here: Here, config: &Config, json: bool) -> Desk {
        let folder = (!here.is_temporary()).then(|| config.data.folder.clone());
        Desk { way: Way::Here(Box::new(here)), json, folder, wrote: false.into() }
    }

    /// Something was stored: the folder is named when the command ends.
    pub(super) fn note_write(&self) {
        self.wrote.store(true, Ordering::Relaxed);
    }

    /// Names the folder that was written to, on standard error: several gateways may be on one machine.
    pub(super) fn say_where(&self) {
        let folder = self.folder.as_ref().filter(|_| self.wrote.load(Ordering::Relaxed));
        if let Some(folder) = folder {
            let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
            let runs = match self.way {
                Way::Remote { .. } => "its gateway runs",
                Way::Here(_) => "no gateway runs there",
            };
            eprintln!("hermod: data folder {} ({runs})", folder.display());
        }
    }

    pub(super) async fn close(self) -> Ended {
        match self.way {
            Way::Remote { .. } => Ok(()),
            Way::Here(here) => here.close().await,
        }
    }

    /// Somebody is there who takes the token. Anything but that is found out again, and told, by whoever asks next.
    pub(super) async fn answers(&self) -> bool {
        !matches!(self.call(Method::GET, "/errors", &Body::None).await, Err(CallError::Unreachable(_)))
    }

    /// One request. `path` is below the API's own and escaped.
    pub(super) async fn call(
        &self,
        method: Method,
        path: &str,
        body: &Body<'_>,
    ) -> Result<Answer, CallError> {
        match &self.way {
            Way::Remote { client, token } => {
                client.call(ask(method, client.url().path(), path, token, body)).await
            }
            Way::Here(here) => here.call(ask(method, BASE, path, here.token(), body)).await,
        }
    }

    pub(super) async fn get(&self, path: &str) -> Result<Answer, Failure> {
        self.asked(Method::GET, path, Body::None).await
    }

    /// A request that must succeed.
    pub(super) async fn asked(&self, method: Method, path: &str, body: Body<'_>) -> Result<Answer, Failure> {
        let answer = self.call(method, path, &body).await.map_err(Failure::failed)?;
        answer.accepted().map_err(|refused| self.refused(&refused))
    }

    /// One that may take longer than answers usually do.
    pub(crate) async fn asked_within(
        &self,
        method: Method,
        path: &str,
        body: Body<'_>,
        most: Duration,
    ) -> Result<Answer, Failure> {
        let answer = match &self.way {
            Way::Remote { client, token } => {
                client.call_within(ask(method, client.url().path(), path, token, &body), most).await
            }
            Way::Here(_) => self.call(method, path, &body).await,
        };
        answer.map_err(Failure::failed)?.accepted().map_err(|refused| self.refused(&refused))
    }

    pub(super) fn refused(&self, refused: &Refused) -> Failure {
        if self.json {
            // The sentence is what must be heard, and that goes elsewhere.
            let _ = show::say_raw(&refused.body);
        }
        match refused.status {
            401 => Failure::failed(format!("{refused} (name another with --token-file)")),
            _ => Failure::failed(refused),
        }
    }

    /// Prints an answer: as it came, or as `shown` puts it for a person.
    pub(super) fn tell<T: DeserializeOwned>(
        &self,
        answer: &Answer,
        shown: impl FnOnce(T) -> String,
    ) -> Ended {
        if self.json {
            show::say_raw(&answer.body)
        } else {
            show::say(&shown(answer.read_as().map_err(Failure::failed)?))
        }
    }
}

fn ask(method: Method, base: &str, path: &str, token: &Secret, body: &Body<'_>) -> Ask {
    let (kind, bytes) = match body {
        Body::None => (None, Bytes::new()),
        Body::Json(value) | Body::NewJson(value) => {
            (Some("application/json"), Bytes::from(value.to_string()))
        }
        Body::Toml(text) => (Some("application/toml"), Bytes::from((*text).to_owned())),
    };
    let mut ask = Request::new(Full::new(bytes));
    *ask.method_mut() = method;
    *ask.uri_mut() = format!("{base}{path}").parse().expect("a checked base and an escaped path");
    let mut bearer = HeaderValue::try_from(format!("Bearer {}", token.reveal())).expect("a checked token");
    bearer.set_sensitive(true);
    ask.headers_mut().insert(AUTHORIZATION, bearer);
    if matches!(body, Body::NewJson(_)) {
        ask.headers_mut().insert(IF_NONE_MATCH, HeaderValue::from_static("*"));
    }
    if let Some(kind) = kind {
        ask.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    ask
}
