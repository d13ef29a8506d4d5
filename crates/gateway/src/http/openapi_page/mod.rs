//! Renders an OpenAPI document as one HTML page, without scripts and external resources.
//!
//! The page is made once, from the template `openapi_page.html`, which escapes all text of the document. The content
//! security policy allows only the style of `style.css`, by its digest.

mod example;
mod node;
mod operation;
mod prose;
mod schema;

use askama::Template;
use askama::filters::Safe;
use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use hermod_domain::refusal::Class;
use hermod_domain::refusal::published::PublishedError;
use node::SchemaNode;
use operation::ApiOperation;
use schema::Shown;
use sha2::{Digest, Sha256};
use utoipa::openapi::OpenApi;

/// The style of the page. Its first two lines have the colours.
pub const STYLE: &str = include_str!("style.css");

/// A document and its rendered page.
pub struct Published {
    json: Bytes,
    html: Bytes,
    policy: HeaderValue,
}

impl Published {
    pub fn new(document: &OpenApi, errors: &[PublishedError]) -> Published {
        let policy = format!(
            "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            BASE64_STANDARD.encode(Sha256::digest(STYLE))
        );
        Published {
            json: json(document).into(),
            html: render(document, errors).into(),
            policy: HeaderValue::from_maybe_shared(Bytes::from(policy))
                .expect("base64 and signs are visible"),
        }
    }

    pub fn document(&self) -> Response {
        answer(&self.json, "application/json")
    }

    pub fn page(&self) -> Response {
        let mut response = answer(&self.html, "text/html; charset=utf-8");
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_SECURITY_POLICY, self.policy.clone());
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        response
    }
}

fn answer(bytes: &Bytes, content_type: &'static str) -> Response {
    let mut response = Response::new(Body::from(bytes.clone()));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Returns the document as pretty-printed JSON, as it is served and committed.
pub fn json(document: &OpenApi) -> String {
    let mut text = document.to_pretty_json().expect("a document is made of strings, numbers and lists");
    text.push('\n');
    text
}

/// What a page has around the document: elements of its head with a style, and what stands above the contents. Both are HTML.
#[derive(Clone, Copy, Debug)]
pub struct PageFrame<'a> {
    pub head: &'a str,
    pub top: &'a str,
}

/// Renders the page. The operations link to the table of `errors`.
pub fn render(document: &OpenApi, errors: &[PublishedError]) -> String {
    let head = format!("<style>{STYLE}</style>\n");
    render_in(document, errors, PageFrame { head: &head, top: "" })
}

/// Renders the page in a frame of the caller's. The caller's style sheet can begin with [`STYLE`].
pub fn render_in(document: &OpenApi, errors: &[PublishedError], frame: PageFrame<'_>) -> String {
    let root = SchemaNode::of(document);
    let page = Page {
        root: &root,
        frame,
        sections: sections(&root),
        errors,
        // Codes without an SMPP status have 0, which means success.
        has_smpp: errors.iter().any(|row| row.smpp != 0),
    };
    page.render().expect("a text can always be appended to")
}

#[derive(Template)]
#[template(path = "openapi_page.html", whitespace = "minimize")]
struct Page<'a> {
    root: &'a SchemaNode,
    frame: PageFrame<'a>,
    sections: Vec<Section<'a>>,
    errors: &'a [PublishedError],
    has_smpp: bool,
}

/// A tag with its operations; without operations it is a guide.
struct Section<'a> {
    name: &'a str,
    description: &'a str,
    operations: Vec<ApiOperation<'a>>,
}

impl Section<'_> {
    fn id(&self) -> String {
        format!("group-{}", self.name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-"))
    }
}

fn sections<'a>(root: &'a SchemaNode) -> Vec<Section<'a>> {
    let section = |tag: &'a SchemaNode| {
        let (name, description) = (tag.at("name").text(), tag.at("description").text());
        let operations = operation::all(root).filter(|operation| operation.tag() == name).collect();
        Section { name, description, operations }
    };
    root.at("tags").items().iter().map(section).collect()
}

#[cfg(test)]
mod tests;
