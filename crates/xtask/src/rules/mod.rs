//! The rules of `cargo xtask tidy`. Each is a pure function from the files of the workspace to violations.

mod dependency_reasons;
mod file_purpose;
mod import_cycles;
mod layers;
mod long_files;
mod machine_paths;
mod markdown_links;
mod markdown_titles;
mod prints;
mod unfinished;
pub(crate) mod unused_dependencies;

use std::fmt;

use crate::tree::Tree;

pub(crate) type Rule = fn(&Tree) -> Vec<Violation>;

/// The rules of `cargo xtask tidy`. Unused dependencies are a separate step.
pub(crate) const TIDY: [Rule; 11] = [
    long_files::check,
    long_files::check_templates,
    file_purpose::check,
    unfinished::check,
    prints::check,
    layers::check,
    import_cycles::check,
    markdown_titles::check,
    markdown_links::check,
    dependency_reasons::check,
    machine_paths::check,
];

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) path: String,
    pub(crate) line: usize,
    /// What is wrong and what to write instead.
    pub(crate) message: String,
}

impl Violation {
    pub(crate) fn new(path: &str, line: usize, message: impl Into<String>) -> Violation {
        Violation { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// Asserts that these files give exactly these violations.
#[cfg(test)]
#[track_caller]
pub(crate) fn check_rule(rule: Rule, files: &[(&str, &str)], expect: &[&str]) {
    let found: Vec<String> = rule(&Tree::of(files)).iter().map(Violation::to_string).collect();
    assert_eq!(found, expect);
}
