//! A document that means harm, and the page made from it.

use super::*;
use hermod_domain::refusal::published::PUBLISHED;
use hermod_gateway::http::openapi_errors;
use hermod_gateway::http::openapi_page::PageFrame;
use utoipa::openapi::path::{OperationBuilder, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    AllOfBuilder, ComponentsBuilder, ContentBuilder, HttpMethod, InfoBuilder, ObjectBuilder, OpenApiBuilder,
    PathItem, PathsBuilder, Ref, ResponseBuilder, SecurityRequirement, Server, Type,
};

const EVIL: &str = "<script>alert('1')</script>\" onload=\"x";

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

/// A document in which everything that can be a string is `word`.
fn document(word: &str) -> OpenApi {
    let parameter = ParameterBuilder::new()
        .name(word)
        .parameter_in(ParameterIn::Query)
        .description(Some(word))
        .schema(Some(text().pattern(Some(word)).description(Some(word))))
        .example(Some(word.into()));
    let body = text().property(word, text().description(Some(word)).examples([word])).required(word);
    let content = ContentBuilder::new().schema(Some(body)).build();
    let operation = OperationBuilder::new()
        .tag(word)
        .summary(Some(word))
        .description(Some(format!(
            "A {word} `{word}` **{word}**\n\n- a {word}\n- a {word}\n\n```sh\n{word}\n```"
        )))
        .operation_id(Some(word))
        .parameter(parameter)
        .request_body(Some(RequestBodyBuilder::new().content(word, content.clone()).build()))
        .response("200", ResponseBuilder::new().description(word).content(word, content));
    let components = ComponentsBuilder::new()
        .schema(word, text().enum_values(Some([word])).description(Some(format!("A {word}"))))
        .security_scheme(word, SecurityScheme::Http(Http::new(HttpAuthScheme::Basic)))
        .build();
    OpenApiBuilder::new()
        .info(InfoBuilder::new().title(word).version(word).description(Some(format!("A {word}"))))
        .servers(Some([Server::new(format!("/{word}"))]))
        .paths(
            PathsBuilder::new().path(format!("/{word}/{{id}}"), PathItem::new(HttpMethod::Post, operation)),
        )
        .security(Some([SecurityRequirement::new::<_, _, &str>(word, [])]))
        .components(Some(components))
        .tags(Some([TagBuilder::new().name(word).description(Some(format!("A {word}"))).build()]))
        .build()
}

#[test]
fn text_of_the_document_is_escaped() {
    let page = render(&document(EVIL), PUBLISHED);
    assert!(!page.contains("<script"));
    assert!(page.contains("&#60;script&#62;alert(&#39;1&#39;)"));
    // The same tags in the same order, whatever the document says.
    let plain = render(&document("word"), PUBLISHED);
    assert_eq!(tags(&page), tags(&plain));
}

/// The names of all tags. A break in the line of a path depends on the slashes in it, so it does not count.
fn tags(page: &str) -> Vec<&str> {
    let body = &page[page.find("<body").expect("a page has a body")..];
    let starts = body.split('<').skip(1).map(|rest| rest.split(['>', ' ', '\n']).next().unwrap_or_default());
    starts.filter(|tag| *tag != "wbr").collect()
}

#[test]
fn every_tag_is_closed() {
    let page = render(&document("word"), PUBLISHED);
    let mut open = Vec::new();
    for tag in tags(&page) {
        match tag.strip_prefix('/') {
            Some("html") => break,
            Some(closed) => assert_eq!(open.pop(), Some(closed)),
            None if matches!(tag, "input" | "meta" | "!--") => {}
            None => open.push(tag),
        }
    }
    assert_eq!(open, Vec::<&str>::new());
}

#[test]
fn every_internal_link_has_a_target() {
    let rows: Vec<_> = PUBLISHED.iter().collect();
    let mut operation = OperationBuilder::new().tag("one").operation_id(Some("it"));
    for (status, response) in openapi_errors::responses(&rows) {
        operation = operation.response(status, response);
    }
    let (name, schema) = openapi_errors::schema();
    let document = OpenApiBuilder::new()
        .paths(PathsBuilder::new().path("/it", PathItem::new(HttpMethod::Get, operation)))
        .components(Some(ComponentsBuilder::new().schema(name, schema).build()))
        .tags(Some([TagBuilder::new().name("one").build()]))
        .build();
    let page = render(&document, PUBLISHED);
    let links: Vec<&str> = page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    for row in PUBLISHED {
        assert!(links.contains(&format!("error-{}", row.code).as_str()), "{}", row.code);
    }
    for link in links {
        assert!(page.contains(&format!("id=\"{link}\"")), "nothing has the id {link}");
    }
}

#[test]
fn page_is_self_contained_and_has_a_place_for_its_frame() {
    let page = render(&document("word"), PUBLISHED);
    let page = PageFrame { head: "<style></style>", top: "<p>Top</p>" }.around(&page);
    assert!(
        page.contains("</title>\n<style></style>\n</head>") && page.contains("</a>\n<p>Top</p>\n<header")
    );
    for foreign in ["src=", "url(", "@import", "<link", "<script", "style=\"", "http:"] {
        assert!(!page.contains(foreign), "{foreign} stands in the page");
    }
}

#[test]
fn example_is_a_curl_command() {
    let document = document("it's");
    let root = SchemaNode::of(&document);
    let operation = operation::all(&root).next().unwrap();
    assert_eq!(
        operation.curl(),
        "curl -u \"$KEY:$SECRET\" \"$HERMOD/it's/it's/{id}?it's=it's\" \\\n     -H 'Content-Type: it'\\''s' \\\n     \
         -d '{\"it'\\''s\": \"it'\\''s\"}'"
    );
}

#[test]
fn dangling_and_cyclic_references_are_rendered() {
    let circle = ComponentsBuilder::new()
        .schema("a", Ref::from_schema_name("b"))
        .schema("b", Ref::from_schema_name("a"))
        .schema("c", Ref::from_schema_name("nowhere"))
        .schema("d", ObjectBuilder::new().property("self", Ref::from_schema_name("d")))
        .schema("e", AllOfBuilder::new().item(Ref::from_schema_name("e")).item(Ref::from_schema_name("e")))
        .build();
    let page = render(&OpenApiBuilder::new().components(Some(circle)).build(), &[]);
    assert!(page.contains("id=\"schema-d\""));
}

#[test]
fn object_of_all_of_has_all_fields() {
    let piece = |name: &str| ObjectBuilder::new().property(name, text().examples([name])).required(name);
    let whole = AllOfBuilder::new().item(Ref::from_schema_name("first")).item(piece("second"));
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("whole"))).build();
    let answer = ResponseBuilder::new().content("application/json", content);
    let operation = OperationBuilder::new().response("200", answer);
    let document = OpenApiBuilder::new()
        .paths(PathsBuilder::new().path("/it", PathItem::new(HttpMethod::Get, operation)))
        .components(Some(
            ComponentsBuilder::new().schema("first", piece("first")).schema("whole", whole).build(),
        ))
        .build();
    let root = SchemaNode::of(&document);
    let content = root.at("paths").at("/it").at("get").at("responses").at("200").at("content");
    let made = example::of_content(&root, content.at("application/json")).unwrap();
    assert_eq!(made.json(), r#"{"first": "first", "second": "second"}"#);
}
