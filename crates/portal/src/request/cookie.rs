//! The session cookie. Over TLS its name has the prefix `__Host-`, which browsers accept only with Secure, Path=/ and no domain;
//! without TLS it exists only for browsers on this machine.

use super::Portal;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use hermod_gateway::http::pages::PageSource;
use hermod_gateway::secrets::Secret;
use hermod_operator::user::sign_in::device_token;

const NAME: &str = "__Host-hermod";
const PLAIN_NAME: &str = "hermod-local";
const DEVICE_NAME: &str = "__Host-hermod-device";
const PLAIN_DEVICE_NAME: &str = "hermod-local-device";
/// How long a browser is known after its last sign-in: 180 days, in seconds.
const DEVICE_AGE: &str = "; Max-Age=15552000";
/// A longer one is not ours.
const TOKEN_CHARS_MAX: usize = 128;

/// Returns the name of the cookie for a request, and whether it is for encrypted connections only.
fn name(portal: &Portal, source: &PageSource) -> (&'static str, bool) {
    if source.is_local && !portal.is_tls { (PLAIN_NAME, false) } else { (NAME, true) }
}

/// Returns the token of the session cookie.
pub(crate) fn token(portal: &Portal, source: &PageSource, headers: &HeaderMap) -> Option<Secret> {
    find(name(portal, source).0, headers)
}

/// Returns the token by which a browser is known that a user has signed in with.
pub(crate) fn device(portal: &Portal, source: &PageSource, headers: &HeaderMap) -> Option<Secret> {
    find(device_name(portal, source), headers)
}

fn device_name(portal: &Portal, source: &PageSource) -> &'static str {
    if name(portal, source).1 { DEVICE_NAME } else { PLAIN_DEVICE_NAME }
}

fn find(name: &str, headers: &HeaderMap) -> Option<Secret> {
    let pairs = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = pairs.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let (_, token) = pairs.find(|(given, _)| *given == name)?;
    (!token.is_empty() && token.len() <= TOKEN_CHARS_MAX).then(|| Secret::new(token))
}

/// Returns the header that sets the cookie.
pub(crate) fn set(portal: &Portal, source: &PageSource, token: &Secret) -> HeaderValue {
    let (name, is_secure) = name(portal, source);
    header(name, is_secure, token.reveal(), "")
}

/// Sets the token by which the browser of a user is known from now on.
pub(crate) fn remember_device(portal: &Portal, source: &PageSource, user: u32, response: &mut Response) {
    let Some(token) = device_token(&portal.gateway, user) else { return };
    let cookie = header(device_name(portal, source), name(portal, source).1, token.reveal(), DEVICE_AGE);
    response.headers_mut().append(header::SET_COOKIE, cookie);
}

/// Returns the header that deletes the cookie.
pub(crate) fn clear(portal: &Portal, source: &PageSource) -> HeaderValue {
    let (name, is_secure) = name(portal, source);
    header(name, is_secure, "", "; Max-Age=0")
}

fn header(name: &str, is_secure: bool, value: &str, age: &str) -> HeaderValue {
    let secure = if is_secure { "; Secure" } else { "" };
    let text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict{secure}{age}");
    HeaderValue::try_from(text).expect("a token has letters and digits only")
}
