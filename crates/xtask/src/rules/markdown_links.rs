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
mod tests {
    use super::*;
    use crate::rules::check_rule;

    #[track_caller]
    fn check_target(target: &str, is_fine: bool) {
        let text = format!("# A\nsee [it]({target}).\n");
        let expect = format!("docs/a.md:2: dead link: {target} does not exist");
        let files = [("docs/a.md", text.as_str()), ("docs/adr/0001-b.md", "# B\n"), ("README.md", "# R\n")];
        let expect = [expect.as_str()];
        check_rule(check, &files, if is_fine { &[] } else { &expect });
    }

    #[test]
    fn links_to_files_and_folders_that_exist_are_fine() {
        for target in ["adr/0001-b.md", "./adr/0001-b.md#context", "adr", "../README.md", "#here"] {
            check_target(target, true);
        }
    }

    #[test]
    fn other_sites_are_not_followed() {
        check_target("https://example.com/nowhere", true);
    }

    #[test]
    fn a_dead_link_fails_and_so_does_one_that_leaves_the_repository() {
        for target in ["adr/0002-c.md", "README.md", "../../elsewhere.md"] {
            check_target(target, false);
        }
    }

    #[test]
    fn code_is_not_a_link() {
        check_rule(check, &[("a.md", "# A\n`x[0](y)`\n```\n[a](b)\n```\n")], &[]);
    }

    #[test]
    fn source_path_in_a_document_must_exist_except_in_the_changelog() {
        let source = ("crates/engine/src/accept.rs", "//! Accepts.\n");
        let fine = "# A\n`engine/src/accept.rs`, `crates/engine/src`, `accept.rs`, `engine/tests/*.rs`\n";
        check_rule(check, &[("a.md", fine), source], &[]);
        let gone = "# A\nSee `engine/src/gone.rs` and `crates/engine/tests/it`.\n";
        check_rule(check, &[("CHANGELOG.md", gone), source], &[]);
        let expect = [
            "a.md:2: crates/engine/src/gone.rs does not exist",
            "a.md:2: crates/engine/tests/it does not exist",
        ];
        check_rule(check, &[("a.md", gone), source], &expect);
    }
}
