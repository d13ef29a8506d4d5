//! Links and paths of source files in documents name files that exist, and the part of a link after `#` names a heading. Links to
//! other sites are not checked, because the gate must not depend on the network.

use crate::rules::Violation;
use crate::rules::markdown_titles::prose_lines;
use crate::tree::Tree;

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.with_extension("md") {
        let is_history = file.path == "CHANGELOG.md";
        for (line, text) in prose_lines(&file.text) {
            for path in source_paths(text).filter(|path| !is_history && !tree.has(path)) {
                found.push(Violation::new(&file.path, line, format!("{path} does not exist")));
            }
            for target in targets(&without_inline_code(text)) {
                if is_local(target) && is_dead(tree, &file.path, target) {
                    found.push(Violation::new(
                        &file.path,
                        line,
                        format!("dead link: {target} does not exist"),
                    ));
                }
            }
        }
    }
    found
}

/// Returns the paths of sources in a line's inline code, from the root: `engine/src/accept.rs` with or without `crates/` before it.
fn source_paths(line: &str) -> impl Iterator<Item = String> {
    line.split('`').skip(1).step_by(2).filter_map(|code| {
        let path = code.strip_prefix("crates/").unwrap_or(code);
        let mut names = path.split('/');
        let is_source = names.next().is_some_and(|name| name.chars().all(|c| c.is_ascii_lowercase()))
            && matches!(names.next(), Some("src" | "tests"))
            && !path.contains([' ', '*', '{', '<']);
        is_source.then(|| format!("crates/{path}"))
    })
}

fn without_inline_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

/// Returns the targets of `[text](target)` and `[text](target "title")`.
fn targets(line: &str) -> Vec<&str> {
    let links = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    links.filter_map(|(target, _)| target.split_whitespace().next()).collect()
}

fn is_local(target: &str) -> bool {
    !target.contains("://") && !target.starts_with("mailto:")
}

/// Whether a local target is no file of the repository, or no heading of the document that it names.
fn is_dead(tree: &Tree, document: &str, target: &str) -> bool {
    let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
    let path = if path.is_empty() { Some(document.to_owned()) } else { resolve(document, path) };
    let Some(path) = path.filter(|path| tree.has(path)) else { return true };
    let Some((anchor, text)) = anchor.zip(tree.text_of(&path)) else { return false };
    path.ends_with(".md") && !anchors(text).iter().any(|known| known == anchor)
}

/// Returns the anchors of a document's headings, as GitHub makes them: lower case, hyphens for blanks, no punctuation, and a
/// number after a text that an earlier heading has.
fn anchors(text: &str) -> Vec<String> {
    let mut found: Vec<(String, usize)> = Vec::new();
    for (_, line) in prose_lines(text) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let kept = title.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let anchor: String =
            kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect();
        let before = found.iter().filter(|(known, _)| *known == anchor).count();
        found.push((anchor, before));
    }
    let numbered = |(anchor, before): (String, usize)| match before {
        0 => anchor,
        before => format!("{anchor}-{before}"),
    };
    found.into_iter().map(numbered).collect()
}

/// Returns the target as a path from the root; none if it is outside of the repository.
fn resolve(document: &str, target: &str) -> Option<String> {
    let folder = document.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
#[path = "markdown_links_tests.rs"]
mod tests;
