//! Renders an OpenAPI document as one HTML page, without scripts and external resources.
//!
//! The page is rendered once, on the server. All text of the document is escaped. The content security policy allows only
//! the style of `style.css`, by its digest.

mod errors;
mod example;
mod html;
mod node;
mod operation;
mod prose;
mod schema;

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use hermod_domain::refusal::published::PublishedError;
use html::Html;
use node::Node;
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

/// What a page has around the document: elements of its head with a style, and what stands above the contents.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// HTML.
    pub head: &'a str,
    /// HTML.
    pub top: &'a str,
}

/// Renders the page. The operations link to the table of `errors`, which is left out if there are none.
pub fn render(document: &OpenApi, errors: &[PublishedError]) -> String {
    let head = format!("<style>{STYLE}</style>\n");
    render_in(document, errors, Frame { head: &head, top: "" })
}

/// Renders the page in a frame of the caller's. The caller's style sheet can begin with [`STYLE`].
pub fn render_in(document: &OpenApi, errors: &[PublishedError], frame: Frame<'_>) -> String {
    let root = Node::of(document);
    let sections = Sections::of(&root);
    let mut page = Html::default();
    page.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    page.text(root.at("info").at("title").text());
    page.raw("</title>\n").frame(frame.head).raw("</head>\n<body>\n");
    page.raw("<a class=\"skip\" href=\"#content\">Skip to the content</a>\n");
    page.frame(frame.top);
    navigation(&mut page, &root, &sections, !errors.is_empty());
    page.raw("<main id=\"content\">\n");
    introduction(&mut page, &root);
    for section in &sections.0 {
        page.raw("<section class=\"group\">\n<h2 id=\"").id("group", section.name).raw("\">");
        page.text(section.name).raw("</h2>\n");
        prose::write(&mut page, section.description);
        for operation in &section.operations {
            operation::write(&mut page, &root, operation);
        }
        page.raw("</section>\n");
    }
    schema::catalogue(&mut page, &root);
    errors::catalogue(&mut page, errors);
    page.raw("</main>\n</body>\n</html>\n");
    page.into_string()
}

/// The operations by tag, in the order of the document.
struct Sections<'a>(Vec<Section<'a>>);

struct Section<'a> {
    name: &'a str,
    description: &'a str,
    operations: Vec<operation::Operation<'a>>,
}

impl<'a> Sections<'a> {
    fn of(root: &'a Node) -> Sections<'a> {
        let tags = root.at("tags").items().iter();
        let mut sections: Vec<Section<'a>> = tags
            .map(|tag| Section {
                name: tag.at("name").text(),
                description: tag.at("description").text(),
                operations: Vec::new(),
            })
            .collect();
        for operation in operation::all(root) {
            let tag = operation.tag();
            match sections.iter_mut().find(|section| section.name == tag) {
                Some(section) => section.operations.push(operation),
                None => {
                    sections.push(Section { name: tag, description: "", operations: vec![operation] });
                }
            }
        }
        // A tag without operations is a guide, if it has a description.
        sections.retain(|section| !section.operations.is_empty() || !section.description.is_empty());
        Sections(sections)
    }
}

fn navigation(page: &mut Html, root: &Node, sections: &Sections<'_>, has_errors: bool) {
    page.raw("<header class=\"side\">\n<p class=\"brand\"><a href=\"#content\">");
    page.text(root.at("info").at("title").text());
    page.raw("</a></p>\n");
    // A checkbox opens the contents on a phone; on a wide screen they are always visible.
    page.raw("<input type=\"checkbox\" id=\"menu\"><label for=\"menu\">Contents</label>\n<nav aria-label=\"Contents\">\n");
    for section in &sections.0 {
        page.raw("<p><a href=\"#").id("group", section.name).raw("\">").text(section.name);
        page.raw("</a></p>\n");
        if section.operations.is_empty() {
            continue;
        }
        page.raw("<ul>\n");
        for operation in &section.operations {
            page.raw("<li><a href=\"#").id("operation", operation.id()).raw("\">");
            operation::method(page, operation.method);
            page.raw("<span>").text(operation.title()).raw("</span></a></li>\n");
        }
        page.raw("</ul>\n");
    }
    page.raw("<p>Reference</p>\n<ul>\n");
    if !root.at("components").at("schemas").fields().is_empty() {
        page.raw("<li><a href=\"#schemas\">Schemas</a></li>\n");
    }
    if has_errors {
        page.raw("<li><a href=\"#errors\">Errors</a></li>\n");
    }
    page.raw("<li><a href=\"openapi.json\">openapi.json</a></li>\n</ul>\n</nav>\n</header>\n");
}

fn introduction(page: &mut Html, root: &Node) {
    let info = root.at("info");
    page.raw("<section class=\"intro\">\n<h1>").text(info.at("title").text());
    page.raw(" <small>").text(info.at("version").text()).raw("</small></h1>\n");
    prose::write(page, info.at("description").text());
    credentials(page, root);
    page.raw("</section>\n");
}

/// Writes the authentication schemes in the order of the document.
fn credentials(page: &mut Html, root: &Node) {
    let forms = root.at("security").items();
    if forms.is_empty() {
        return;
    }
    page.raw("<h2 id=\"credentials\">Credentials</h2>\n<dl class=\"schemes\">\n");
    for form in forms {
        page.raw("<dt>");
        for (index, (name, _)) in form.fields().iter().enumerate() {
            page.raw(if index == 0 { "" } else { " + " }).text(name);
        }
        page.raw("</dt>\n<dd>");
        for (name, _) in form.fields() {
            let scheme = root.at("components").at("securitySchemes").at(name);
            prose::write(page, scheme.at("description").text());
        }
        page.raw("</dd>\n");
    }
    page.raw("</dl>\n");
}

#[cfg(test)]
mod tests;
