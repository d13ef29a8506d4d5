//! No file names a folder of a developer's machine, such as a home folder: it does not exist elsewhere.

use crate::rules::Violation;
use crate::tree::Tree;

/// Written in two halves, so that this file does not match.
const FORBIDDEN: [&str; 6] = [
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/Use", "rs/"),
    concat!("shared", "/spec"),
    concat!("shared", "/design"),
];

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.files() {
        for (index, line) in file.text.lines().enumerate() {
            for path in FORBIDDEN.iter().filter(|path| names(line, path)) {
                let message =
                    format!("`{path}` exists on one machine only: write a path relative to the root");
                found.push(Violation::new(&file.path, index + 1, message));
            }
        }
    }
    found
}

/// Whether the match starts a path: `a/home/b` is a relative path.
fn names(line: &str, path: &str) -> bool {
    let continues = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '}' | '>');
    let is_absolute = path.starts_with('/');
    line.match_indices(path).any(|(at, _)| !(is_absolute && line[..at].ends_with(continues)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_line(line: &str, expect: usize) {
        assert_eq!(check(&Tree::of(&[("docs/a.md", line)])).len(), expect, "{line}");
    }

    #[test]
    fn a_path_of_one_machine_fails() {
        for path in FORBIDDEN {
            check_line(&format!("see {path}x"), 1);
            check_line(&format!("see `{path}x`"), 1);
        }
    }

    #[test]
    fn paths_of_the_product_and_relative_paths_are_fine() {
        check_line("the data lies in /var/lib/hermod", 0);
        check_line("GET {base}/home/ and src/home/mod.rs and ./home/x", 0);
    }
}
