//! Renders an OpenAPI document as one HTML page, from the template `openapi_page.html`, which escapes all text of the document.

mod example;
mod node;
mod operation;
mod prose;
mod schema;
mod tests;

use askama::Template;
use hermod_domain::refusal::Class;
use hermod_domain::refusal::published::PublishedError;
use node::SchemaNode;
use operation::ApiOperation;
use schema::Shown;
use utoipa::openapi::OpenApi;

/// Renders the page, with marks for its frame. The operations link to the table of `errors`.
pub(crate) fn render(document: &OpenApi, errors: &[PublishedError]) -> String {
    let root = SchemaNode::of(document);
    let page = Page {
        root: &root,
        sections: sections(&root),
        errors,
        // Codes without an SMPP status have 0, which means success.
        has_smpp: errors.iter().any(|row| row.smpp != 0),
    };
    // The macros of the template leave empty lines.
    page.render().unwrap().trim().to_owned() + "\n"
}

#[derive(Template)]
#[template(path = "openapi_page.html", whitespace = "minimize")]
struct Page<'a> {
    root: &'a SchemaNode,
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
