//! Serves an OpenAPI document and its HTML page, which has no scripts and no external resources.
//!
//! Both are recorded in docs/ by the tests in `tests/documents`. The content security policy allows only the style of `style.css`,
//! by its digest.

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use sha2::{Digest, Sha256};

/// The style of the page. Its first two lines have the colours.
pub const STYLE: &str = include_str!("style.css");

/// Where the head of a frame goes in a recorded page.
const HEAD_MARK: &str = "<!-- head -->";
/// Where the top of a frame goes in a recorded page.
const TOP_MARK: &str = "<!-- top -->";

/// What a page has around the document: elements of its head with a style, and what stands above the contents. Both are HTML.
#[derive(Clone, Copy, Debug)]
pub struct PageFrame<'a> {
    pub head: &'a str,
    pub top: &'a str,
}

impl PageFrame<'_> {
    /// Puts a recorded page into the frame. The frame's style sheet can begin with [`STYLE`].
    pub fn around(self, page: &str) -> String {
        page.replacen(HEAD_MARK, self.head, 1).replacen(TOP_MARK, self.top, 1)
    }
}

/// A document and its page, as they are served.
pub struct Published {
    json: &'static str,
    html: Bytes,
    policy: HeaderValue,
}

impl Published {
    /// Takes a recorded document and its recorded page.
    pub fn new(json: &'static str, page: &str) -> Published {
        let head = format!("<style>{STYLE}</style>\n");
        let policy = format!(
            "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            BASE64_STANDARD.encode(Sha256::digest(STYLE))
        );
        Published {
            json,
            html: PageFrame { head: &head, top: "" }.around(page).into(),
            policy: HeaderValue::from_maybe_shared(Bytes::from(policy))
                .expect("base64 and signs are visible"),
        }
    }

    pub fn document(&self) -> Response {
        answer(Bytes::from_static(self.json.as_bytes()), "application/json")
    }

    pub fn page(&self) -> Response {
        let mut response = answer(self.html.clone(), "text/html; charset=utf-8");
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_SECURITY_POLICY, self.policy.clone());
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        response
    }
}

fn answer(bytes: Bytes, content_type: &'static str) -> Response {
    let mut response = Response::new(Body::from(bytes));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_is_put_around_a_page_and_the_policy_allows_its_style() {
        let published =
            Published::new("{}", "<head>\n<!-- head -->\n</head>\n<body>\n<!-- top -->\n<main></main>");
        let html = str::from_utf8(&published.html).unwrap();
        let (style, body) = html.strip_prefix("<head>\n<style>").unwrap().split_once("</style>\n").unwrap();
        assert_eq!(body, "\n</head>\n<body>\n\n<main></main>");
        let policy = published.page().headers()["content-security-policy"].to_str().unwrap().to_owned();
        let digest = BASE64_STANDARD.encode(Sha256::digest(style));
        assert!(policy.starts_with("default-src 'none'; "), "{policy}");
        assert!(policy.contains(&format!("style-src 'sha256-{digest}'")), "{policy}");
        for foreign in ["url(", "@import"] {
            assert!(!style.contains(foreign), "{foreign} stands in the style");
        }
    }
}
