//! One operation: description, parameters, body, responses, examples.

use super::example;
use super::node::SchemaNode;
use super::schema::{SchemaRow, Shown, Word, words};
use askama::filters::Safe;

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// The header that lists the error codes of a response.
const CODE_HEADER: &str = "X-Error-Code";

pub(super) struct ApiOperation<'a> {
    root: &'a SchemaNode,
    pub(super) method: &'static str,
    pub(super) path: &'a str,
    node: &'a SchemaNode,
}

/// A body of a request or response.
pub(super) struct Content<'a> {
    pub(super) content_type: &'a str,
    pub(super) is_optional: bool,
    /// The name of its schema, if it has one.
    pub(super) name: Vec<Word<'a>>,
    pub(super) schema: Shown<'a>,
}

/// A response: an error has codes, and success all the other fields.
pub(super) struct Response<'a> {
    pub(super) status: &'a str,
    pub(super) codes: &'a [SchemaNode],
    pub(super) description: &'a str,
    pub(super) bodies: Vec<Content<'a>>,
    pub(super) headers: Vec<SchemaRow<'a>>,
}

pub(super) fn all(root: &SchemaNode) -> impl Iterator<Item = ApiOperation<'_>> {
    let items = root.at("paths").fields().iter();
    let operations = items.flat_map(move |(path, item)| {
        METHODS.map(|method| ApiOperation { root, method, path, node: item.at(method) })
    });
    operations.filter(|operation| !operation.node.is_null())
}

impl<'a> ApiOperation<'a> {
    pub(super) fn tag(&self) -> &'a str {
        self.node.at("tags").items().first().map_or("", SchemaNode::text)
    }

    pub(super) fn id(&self) -> &'a str {
        self.node.at("operationId").text()
    }

    pub(super) fn title(&self) -> &'a str {
        self.node.at("summary").text()
    }

    /// Returns the description, which is empty if the title says it all.
    pub(super) fn description(&self) -> &'a str {
        let description = self.node.at("description").text();
        if description == self.title() { "" } else { description }
    }

    /// Returns the base of the path.
    pub(super) fn server(&self) -> &'a str {
        self.root.at("servers").items().first().map_or("", |server| server.at("url").text())
    }

    pub(super) fn parameters(&self) -> Vec<SchemaRow<'a>> {
        let row = |parameter: &'a SchemaNode| {
            let optional = if is_optional(parameter) { ", optional" } else { "" };
            let note = format!("{}{optional}", parameter.at("in").text());
            let (name, description) = (parameter.at("name"), parameter.at("description"));
            SchemaRow::of(self.root, name.plain(), note, parameter.at("schema"), description.text())
        };
        self.node.at("parameters").items().iter().map(row).collect()
    }

    pub(super) fn bodies(&self) -> Vec<Content<'a>> {
        contents(self.root, self.node.at("requestBody"))
    }

    /// Returns the responses: success in descending order (202 before 200), then errors.
    pub(super) fn responses(&self) -> Vec<Response<'a>> {
        let all = self.node.at("responses").fields().iter();
        let response = |(status, response): (&'a String, &'a SchemaNode)| {
            let response = response.resolve(self.root);
            let headers = response.at("headers");
            let row = |(name, header): (&'a String, &'a SchemaNode)| {
                let header = header.resolve(self.root);
                let (schema, description) = (header.at("schema"), header.at("description"));
                SchemaRow::of(self.root, name.clone(), "header".to_owned(), schema, description.text())
            };
            Response {
                status,
                codes: headers.at(CODE_HEADER).resolve(self.root).at("schema").at("enum").items(),
                description: response.at("description").text(),
                bodies: contents(self.root, response),
                headers: headers.fields().iter().map(row).collect(),
            }
        };
        let (mut good, bad): (Vec<_>, Vec<_>) =
            all.map(response).partition(|response| response.codes.is_empty());
        good.reverse();
        good.extend(bad);
        good
    }

    /// Returns the status and the body of each successful response that has one.
    pub(super) fn examples(&self) -> Vec<(&'a str, Safe<String>)> {
        let responses = self.node.at("responses").fields().iter().rev();
        let good = responses.filter(|(status, _)| status.starts_with('2'));
        let example = |(status, response): (&'a String, &'a SchemaNode)| {
            let (_, content) = response.at("content").fields().first()?;
            Some((status.as_str(), example::coloured(&example::of_content(self.root, content)?)))
        };
        good.filter_map(example).collect()
    }

    /// Returns the request as a curl command; its variables are set by the user.
    pub(super) fn curl(&self) -> String {
        let mut words = vec![format!("curl{}", self.credentials())];
        // curl uses GET, or POST with a body; any other method needs -X.
        let body = self.node.at("requestBody").at("content").fields().first();
        if self.method != if body.is_none() { "get" } else { "post" } {
            words[0].push_str(&format!(" -X {}", self.method.to_uppercase()));
        }
        let (mut query, mut headers) = (Vec::new(), Vec::new());
        let mut path = self.path.to_owned();
        for parameter in self.node.at("parameters").items() {
            let name = parameter.at("name").text();
            match (parameter.at("in").text(), parameter.at("example")) {
                ("path", SchemaNode::Null) => {
                    path = path.replace(&format!("{{{name}}}"), &name.to_uppercase())
                }
                ("path", value) => path = path.replace(&format!("{{{name}}}"), &value.plain()),
                (_, SchemaNode::Null) => {}
                ("query", value) => query.push(format!("{name}={}", value.plain())),
                (_, value) => {
                    headers.push(format!("-H {}", shell_quoted(&format!("{name}: {}", value.plain()))));
                }
            }
        }
        let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
        words[0].push_str(&format!(" \"$HERMOD{}{path}{query}\"", self.server()));
        words.extend(headers);
        if let Some((content_type, content)) = body {
            words.push(format!("-H {}", shell_quoted(&format!("Content-Type: {content_type}"))));
            let example = example::of_content(self.root, content);
            words.extend(example.map(|example| format!("-d {}", shell_quoted(&example.plain()))));
        }
        words.join(" \\\n     ")
    }

    /// Returns the curl option of the first authentication scheme.
    fn credentials(&self) -> &'static str {
        let first = self.root.at("security").items().first().and_then(|first| first.fields().first());
        let schemes = self.root.at("components").at("securitySchemes");
        match first.map_or("", |(name, _)| schemes.at(name).at("scheme").text()) {
            "basic" => " -u \"$KEY:$SECRET\"",
            "bearer" => " -H \"Authorization: Bearer $TOKEN\"",
            _ => "",
        }
    }
}

fn is_optional(node: &SchemaNode) -> bool {
    *node.at("required") != SchemaNode::Bool(true)
}

fn contents<'a>(root: &'a SchemaNode, owner: &'a SchemaNode) -> Vec<Content<'a>> {
    let content = |(content_type, content): (&'a String, &'a SchemaNode)| {
        let schema = content.at("schema");
        Content {
            content_type,
            is_optional: is_optional(owner),
            name: schema.reference().map(|_| words(schema)).unwrap_or_default(),
            schema: Shown::of(root, schema),
        }
    };
    owner.at("content").fields().iter().map(content).collect()
}

/// Quotes a text for a shell.
fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
