//! Links and paths of source files in documents name files that exist. Links to other sites are not checked, because the
//! gate must not depend on the network.

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
                let is_dead = resolve(&file.path, target).is_none_or(|path| !tree.has(&path));
                if is_local(target) && is_dead {
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
    let is_elsewhere = target.contains("://") || target.starts_with("mailto:");
    !is_elsewhere && !target.starts_with('#')
}

/// Returns the target as a path from the root; none if it is outside of the repository.
fn resolve(document: &str, target: &str) -> Option<String> {
    let target = target.split_once('#').map_or(target, |(path, _anchor)| path);
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
