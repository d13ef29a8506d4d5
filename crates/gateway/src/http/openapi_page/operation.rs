//! One operation: description, parameters, body, responses, examples.

use super::html::Html;
use super::node::{Node, plain};
use super::{example, prose, schema};

const METHODS: [&str; 8] = ["get", "post", "put", "patch", "delete", "head", "options", "trace"];

/// The header that lists the error codes of a response.
const CODE_HEADER: &str = "X-Error-Code";

pub(super) struct Operation<'a> {
    pub(super) method: &'static str,
    pub(super) path: &'a str,
    pub(super) node: &'a Node,
    shared: &'a [Node],
}

pub(super) fn all(root: &Node) -> Vec<Operation<'_>> {
    let mut operations = Vec::new();
    for (path, item) in root.at("paths").fields() {
        let shared = item.at("parameters").items();
        for method in METHODS {
            let node = item.at(method);
            if !node.is_null() {
                operations.push(Operation { method, path, node, shared });
            }
        }
    }
    operations
}

impl<'a> Operation<'a> {
    pub(super) fn tag(&self) -> &'a str {
        self.node.at("tags").items().first().map_or("Operations", Node::text)
    }

    pub(super) fn id(&self) -> &'a str {
        match self.node.at("operationId").text() {
            "" => self.path,
            id => id,
        }
    }

    pub(super) fn title(&self) -> &'a str {
        match self.node.at("summary").text() {
            "" => self.path,
            summary => summary,
        }
    }

    /// The responses: success in descending order (202 before 200), then errors.
    fn responses(&self) -> impl Iterator<Item = (&'a str, &'a Node)> {
        let all = || {
            self.node.at("responses").fields().iter().map(|(status, response)| (status.as_str(), response))
        };
        let is_good = |(status, _): &(&str, &Node)| status.starts_with('2');
        let good: Vec<_> = all().filter(is_good).collect();
        good.into_iter().rev().chain(all().filter(move |response| !is_good(response)))
    }

    pub(super) fn parameters<'b>(&'b self, root: &'b Node) -> impl Iterator<Item = &'b Node> {
        let all = self.shared.iter().chain(self.node.at("parameters").items());
        all.map(|parameter| parameter.resolve(root))
    }
}

pub(super) fn method(page: &mut Html, method: &'static str) {
    page.raw("<span class=\"method ").raw(method).raw("\">").raw(match method {
        "get" => "GET",
        "post" => "POST",
        "put" => "PUT",
        "patch" => "PATCH",
        // Short enough for the list of contents.
        "delete" => "DEL",
        other => other,
    });
    page.raw("</span>");
}

pub(super) fn write(page: &mut Html, root: &Node, operation: &Operation<'_>) {
    let server = root.at("servers").items().first().map_or("", |server| server.at("url").text());
    page.raw("<article class=\"operation\" id=\"")
        .id("operation", operation.id())
        .raw("\">\n<div class=\"words\">\n");
    page.raw("<h3><a href=\"#").id("operation", operation.id()).raw("\">").text(operation.title());
    page.raw("</a></h3>\n<p class=\"path\">");
    method(page, operation.method);
    page.raw("<code>").text(server);
    for (index, piece) in operation.path.split('/').enumerate() {
        // A line may break before a slash, so that a long path fits a phone.
        page.raw(if index == 0 { "" } else { "<wbr>/" }).text(piece);
    }
    page.raw("</code></p>\n");
    let description = operation.node.at("description").text();
    if description != operation.title() {
        prose::write(page, description);
    }
    parameters(page, root, operation);
    request_body(page, root, operation);
    responses(page, root, operation);
    page.raw("</div>\n<div class=\"examples\">\n");
    examples(page, root, operation);
    page.raw("</div>\n</article>\n");
}

fn parameters(page: &mut Html, root: &Node, operation: &Operation<'_>) {
    let mut parameters = operation.parameters(root).peekable();
    if parameters.peek().is_none() {
        return;
    }
    page.raw("<h4>Parameters</h4>\n<div class=\"wide\"><table class=\"cards fields\">\n<tbody>\n");
    for parameter in parameters {
        let optional = *parameter.at("required") != Node::Bool(true);
        page.raw("<tr><th scope=\"row\"><code>").text(parameter.at("name").text()).raw("</code>");
        page.raw(" <small>").text(parameter.at("in").text()).raw(if optional { ", optional" } else { "" });
        page.raw("</small></th><td>");
        schema::type_name(page, parameter.at("schema"));
        schema::rules(page, parameter.at("schema").resolve(root));
        page.raw("</td><td>");
        prose::line(page, parameter.at("description").text());
        page.raw("</td></tr>\n");
    }
    page.raw("</tbody>\n</table></div>\n");
}

fn request_body(page: &mut Html, root: &Node, operation: &Operation<'_>) {
    let body = operation.node.at("requestBody").resolve(root);
    for (content_type, content) in body.at("content").fields() {
        page.raw("<h4>Body <small><code>").text(content_type).raw("</code>");
        page.raw(if *body.at("required") == Node::Bool(true) { "" } else { ", optional" })
            .raw("</small></h4>\n");
        prose::write(page, body.at("description").text());
        schema::write(page, root, content.at("schema"));
    }
}

fn responses(page: &mut Html, root: &Node, operation: &Operation<'_>) {
    page.raw("<h4>Responses</h4>\n<ul class=\"answers\">\n");
    for (status, response) in operation.responses() {
        let response = response.resolve(root);
        page.raw("<li>").raw(if status.starts_with('2') {
            "<span class=\"status good\">"
        } else {
            "<span class=\"status\">"
        });
        page.text(status).raw("</span><div>");
        let codes = response.at("headers").at(CODE_HEADER).resolve(root).at("schema").at("enum").items();
        if codes.is_empty() {
            prose::line(page, response.at("description").text());
            success_response(page, root, response);
        } else {
            for (index, code) in codes.iter().enumerate() {
                page.raw(if index == 0 { "" } else { " " })
                    .raw("<a class=\"code\" href=\"#")
                    .id("error", code.text());
                page.raw("\">").text(code.text()).raw("</a>");
            }
        }
        page.raw("</div></li>\n");
    }
    page.raw("</ul>\n");
}

/// Writes the fields and headers of a successful response, folded: the example shows most of them.
fn success_response(page: &mut Html, root: &Node, response: &Node) {
    let headers = response.at("headers").fields();
    let content = response.at("content").fields();
    if headers.is_empty() && content.is_empty() {
        return;
    }
    page.raw("<details><summary>Fields and headers</summary>\n");
    for (content_type, content) in content {
        page.raw("<p class=\"type\"><code>").text(content_type).raw("</code> ");
        if content.at("schema").reference().is_some() {
            schema::type_name(page, content.at("schema"));
        }
        page.raw("</p>\n");
        schema::write(page, root, content.at("schema"));
    }
    if !headers.is_empty() {
        page.raw("<div class=\"wide\"><table class=\"cards fields\">\n<tbody>\n");
    }
    for (name, header) in headers {
        let header = header.resolve(root);
        page.raw("<tr><th scope=\"row\"><code>").text(name).raw("</code> <small>header</small></th><td>");
        schema::type_name(page, header.at("schema"));
        schema::rules(page, header.at("schema"));
        page.raw("</td><td>");
        prose::line(page, header.at("description").text());
        page.raw("</td></tr>\n");
    }
    if !headers.is_empty() {
        page.raw("</tbody>\n</table></div>\n");
    }
    page.raw("</details>\n");
}

fn examples(page: &mut Html, root: &Node, operation: &Operation<'_>) {
    page.raw("<p>Request</p>\n<pre><code>").text(&curl(root, operation)).raw("</code></pre>\n");
    for (status, response) in operation.responses().filter(|(status, _)| status.starts_with('2')) {
        let content = response.resolve(root).at("content").fields().first();
        let Some(value) = content.and_then(|(_, content)| example::of_content(root, content)) else {
            continue;
        };
        page.raw("<p>Response ").text(status).raw("</p>\n<pre><code>");
        example::pretty(page, &value, 0);
        page.raw("</code></pre>\n");
    }
}

/// Returns the request as a curl command; its variables are set by the user.
pub(super) fn curl(root: &Node, operation: &Operation<'_>) -> String {
    let mut words = vec![format!("curl{}", credentials(root, operation))];
    // curl uses GET, or POST with a body; any other method needs -X.
    let usual = if operation.node.at("requestBody").is_null() { "get" } else { "post" };
    if operation.method != usual {
        words[0].push_str(&format!(" -X {}", operation.method.to_uppercase()));
    }
    let mut query = Vec::new();
    let mut headers = Vec::new();
    let mut path = operation.path.to_owned();
    for parameter in operation.parameters(root) {
        let name = parameter.at("name").text();
        let example = parameter.at("example");
        match (parameter.at("in").text(), example) {
            ("path", Node::Null) => path = path.replace(&format!("{{{name}}}"), &name.to_uppercase()),
            ("path", value) => path = path.replace(&format!("{{{name}}}"), &plain(value)),
            (_, Node::Null) => {}
            ("query", value) => query.push(format!("{name}={}", plain(value))),
            ("header", value) => {
                headers.push(format!("-H {}", shell_quoted(&format!("{name}: {}", plain(value)))))
            }
            _ => {}
        }
    }
    let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    let server = root.at("servers").items().first().map_or("", |server| server.at("url").text());
    words[0].push_str(&format!(" \"$HERMOD{server}{path}{query}\""));
    words.extend(headers);
    let body = operation.node.at("requestBody").resolve(root).at("content").fields().first();
    if let Some((content_type, content)) = body {
        words.push(format!("-H {}", shell_quoted(&format!("Content-Type: {content_type}"))));
        if let Some(example) = example::of_content(root, content) {
            words.push(format!("-d {}", shell_quoted(&plain(&example))));
        }
    }
    words.join(" \\\n     ")
}

/// Quotes a text for a shell.
fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Returns the curl option of the first authentication scheme.
fn credentials(root: &Node, operation: &Operation<'_>) -> &'static str {
    let needs = match operation.node.at("security") {
        Node::Null => root.at("security"),
        own => own,
    };
    let Some((name, _)) = needs.items().first().and_then(|first| first.fields().first()) else { return "" };
    let scheme = root.at("components").at("securitySchemes").at(name);
    match scheme.at("scheme").text() {
        "basic" => " -u \"$KEY:$SECRET\"",
        "bearer" => " -H \"Authorization: Bearer $TOKEN\"",
        _ => "",
    }
}
