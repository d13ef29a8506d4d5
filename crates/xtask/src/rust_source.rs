//! Splits Rust files for the rules: code without comments and literals, comments without code, and product code without
//! tests. Every view keeps the line numbers of the file.

use std::collections::BTreeSet;

use ra_ap_rustc_lexer::{FrontmatterAllowed, LiteralKind, TokenKind, tokenize};

use crate::tree::{TextFile, Tree};

pub(crate) struct RustFile<'t> {
    pub(crate) path: &'t str,
    /// Code with comments and literals blanked.
    pub(crate) code: String,
    /// `code` with the items under `#[cfg(test)]` blanked too; empty for a file of tests.
    pub(crate) product: String,
    pub(crate) comments: String,
}

/// Returns every Rust file of the tree.
pub(crate) fn rust_files(tree: &Tree) -> Vec<RustFile<'_>> {
    let mut files: Vec<RustFile<'_>> = Vec::new();
    let mut test_modules = BTreeSet::new();
    for TextFile { path, text } in tree.with_extension("rs") {
        let (code, comments) = separate(text);
        let (product, modules) = without_tests(&code);
        test_modules.extend(modules.iter().map(|module| format!("{}{module}", child_folder(path))));
        files.push(RustFile { path, code, product, comments });
    }
    for file in &mut files {
        if is_test_file(file.path, &test_modules) {
            file.product = String::new();
        }
    }
    files
}

fn is_test_file(path: &str, test_modules: &BTreeSet<String>) -> bool {
    let in_folder = |folder: &str| path.contains(&format!("/{folder}/"));
    let is_module = |module: &String| {
        path.strip_prefix(module.as_str()).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
    };
    // By name too: the text of a `#[path]` is a literal and blanked.
    let is_named_so = path.ends_with("_tests.rs");
    let is_in_test_folder = in_folder("tests") || in_folder("benches") || in_folder("examples");
    is_named_so || is_in_test_folder || test_modules.iter().any(is_module)
}

/// Returns the folder of the modules that this file declares: `a/b/` for `a/b.rs`, `a/` for `a/mod.rs`.
fn child_folder(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    match name.strip_suffix(".rs").unwrap_or(name) {
        "mod" | "lib" | "main" => format!("{folder}/"),
        stem => format!("{folder}/{stem}/"),
    }
}

/// Splits a file into code and comments. Each has spaces in place of the other, and of literals other than numbers.
fn separate(text: &str) -> (String, String) {
    let (mut code, mut comments, mut rest) = (String::new(), String::new(), text);
    for token in tokenize(text, FrontmatterAllowed::No) {
        let (part, after) = rest.split_at(token.len as usize);
        rest = after;
        let blank: String = part.chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
        let (in_code, in_comments) = match token.kind {
            TokenKind::LineComment { .. } | TokenKind::BlockComment { .. } => (blank.as_str(), part),
            TokenKind::Literal { kind: LiteralKind::Int { .. } | LiteralKind::Float { .. }, .. } => {
                (part, blank.as_str())
            }
            TokenKind::Literal { .. } => (blank.as_str(), blank.as_str()),
            _ => (part, blank.as_str()),
        };
        code.push_str(in_code);
        comments.push_str(in_comments);
    }
    (code, comments)
}

const TEST_ATTRIBUTE: &str = "#[cfg(test)]";

/// Blanks each item under `#[cfg(test)]`. Also returns the modules in other files that are declared under it.
fn without_tests(code: &str) -> (String, Vec<String>) {
    let (mut product, mut modules, mut rest) = (String::new(), Vec::new(), code);
    while let Some(start) = rest.find(TEST_ATTRIBUTE) {
        let item = &rest[start + TEST_ATTRIBUTE.len()..];
        let length = item_length(item);
        let declared = item[..length].trim().strip_suffix(';').and_then(|head| head.rsplit_once("mod "));
        modules.extend(declared.map(|(_, name)| name.trim().to_owned()));
        let end = start + TEST_ATTRIBUTE.len() + length;
        product.push_str(&rest[..start]);
        product.extend(rest[start..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        rest = &rest[end..];
    }
    product.push_str(rest);
    (product, modules)
}

/// Returns the length up to the `;` that ends the item or the `}` that closes its first brace.
fn item_length(item: &str) -> usize {
    let mut depth = 0_u32;
    for (at, c) in item.char_indices() {
        match c {
            ';' if depth == 0 => return at + 1,
            '{' => depth += 1,
            '}' if depth <= 1 => return at + 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    item.len()
}

#[cfg(test)]
#[path = "rust_source_tests.rs"]
mod tests;
