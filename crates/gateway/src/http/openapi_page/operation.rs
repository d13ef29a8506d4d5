//! One operation: what it does, what it takes, what it answers, and how to ask for it.

use super::html::Html;
use super::node::{Node, plain};
use super::{example, prose, schema};

const METHODS: [&str; 8] = ["get", "post", "put", "patch", "delete", "head", "options", "trace"];

/// The header whose values are the codes an answer can carry.
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

    /// What is new comes first (202 before 200), then the errors.
    fn answers(&self) -> impl Iterator<Item = (&'a str, &'a Node)> {
        let answers = || {
            self.node.at("responses").fields().iter().map(|(status, response)| (status.as_str(), response))
        };
        let is_good = |(status, _): &(&str, &Node)| status.starts_with('2');
        let good: Vec<_> = answers().filter(is_good).collect();
        good.into_iter().rev().chain(answers().filter(move |answer| !is_good(answer)))
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
    prose::write(page, operation.node.at("description").text());
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
    page.raw("<h4>Answers</h4>\n<ul class=\"answers\">\n");
    for (status, response) in operation.answers() {
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
            good_answer(page, root, response);
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

/// Body and headers of an answer that is no error, behind a fold: the example beside it says most of it.
fn good_answer(page: &mut Html, root: &Node, response: &Node) {
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
    page.raw("<p>Ask</p>\n<pre><code>").text(&curl(root, operation)).raw("</code></pre>\n");
    for (status, response) in operation.answers().filter(|(status, _)| status.starts_with('2')) {
        let content = response.resolve(root).at("content").fields().first();
        let Some(value) = content.and_then(|(_, content)| example::of_content(root, content)) else {
            continue;
        };
        page.raw("<p>Answer ").text(status).raw("</p>\n<pre><code>");
        example::pretty(page, &value, 0);
        page.raw("</code></pre>\n");
    }
}

/// The request as a line for a shell, to be pasted once the variables in it are set.
pub(super) fn curl(root: &Node, operation: &Operation<'_>) -> String {
    let mut words = vec![format!("curl{}", credentials(root, operation))];
    // curl asks with GET, or with POST where there is a body; any other method has to be named.
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

/// Inside single quotes a shell reads everything as it stands, save the quote itself.
fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The first form of credentials the operation takes.
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
