//! Takes a Rust file apart just far enough for the rules: code without comments and literals, comments without
//! code, and what of the code exists only for tests. Every view keeps the line numbers of the file.

use std::collections::BTreeSet;

use crate::tree::{TextFile, Tree};

pub(crate) struct RustFile<'t> {
    pub(crate) path: &'t str,
    /// Code with comments and the inside of literals blanked.
    pub(crate) code: String,
    /// `code` with the items under `#[cfg(test)]` blanked too; empty for a file that is test code as a whole.
    pub(crate) product: String,
    pub(crate) comments: String,
}

/// Every Rust file of the tree, taken apart.
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
    // By name too: a module can be declared with a `#[path]`, whose text is a literal and blanked.
    let is_named_so = path.ends_with("_tests.rs");
    let is_in_test_folder = in_folder("tests") || in_folder("benches") || in_folder("examples");
    is_named_so || is_in_test_folder || test_modules.iter().any(is_module)
}

/// Where the modules declared in this file live: `a/b.rs` declares `a/b/*`, `a/mod.rs` declares `a/*`.
fn child_folder(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    match name.strip_suffix(".rs").unwrap_or(name) {
        "mod" | "lib" | "main" => format!("{folder}/"),
        stem => format!("{folder}/{stem}/"),
    }
}

#[derive(Clone, Copy)]
enum Inside {
    Code,
    LineComment,
    BlockComment { depth: u32 },
    Text,
    RawText { hashes: usize },
}

/// Splits a file into code and comments, each with spaces where the other stands.
fn separate(text: &str) -> (String, String) {
    let chars: Vec<char> = text.chars().collect();
    let (mut code, mut comments) = (String::new(), String::new());
    let (mut at, mut inside) = (0, Inside::Code);
    while at < chars.len() {
        let rest = &chars[at..];
        let (width, next) = step(inside, rest, at.checked_sub(1).map(|before| chars[before]));
        let is_comment = is_comment(inside) || is_comment(next);
        let is_code = width == 1 && matches!((inside, next), (Inside::Code, Inside::Code));
        for &c in &rest[..width] {
            let blank = if c == '\n' { '\n' } else { ' ' };
            code.push(if is_code { c } else { blank });
            comments.push(if is_comment { c } else { blank });
        }
        at += width;
        inside = next;
    }
    (code, comments)
}

fn is_comment(inside: Inside) -> bool {
    matches!(inside, Inside::LineComment | Inside::BlockComment { .. })
}

/// How many characters belong together here, and where we are after them.
fn step(inside: Inside, rest: &[char], before: Option<char>) -> (usize, Inside) {
    let second = rest.get(1).copied();
    match (inside, rest[0]) {
        (Inside::Code, '/') if second == Some('/') => (2, Inside::LineComment),
        (Inside::Code, '/') if second == Some('*') => (2, Inside::BlockComment { depth: 1 }),
        (Inside::Code, '"') => (1, Inside::Text),
        (Inside::Code, 'r') if !before.is_some_and(is_word) || matches!(before, Some('b' | 'c')) => {
            let hashes = rest[1..].iter().take_while(|&&c| c == '#').count();
            let is_raw = rest.get(1 + hashes) == Some(&'"');
            if is_raw { (2 + hashes, Inside::RawText { hashes }) } else { (1, Inside::Code) }
        }
        (Inside::Code, '\'') => (char_literal_width(rest), Inside::Code),
        (Inside::Code, _) => (1, Inside::Code),
        (Inside::LineComment, '\n') => (1, Inside::Code),
        (Inside::BlockComment { depth: 1 }, '*') if second == Some('/') => (2, Inside::Code),
        (Inside::BlockComment { depth }, '*') if second == Some('/') => {
            (2, Inside::BlockComment { depth: depth - 1 })
        }
        (Inside::BlockComment { depth }, '/') if second == Some('*') => {
            (2, Inside::BlockComment { depth: depth + 1 })
        }
        (Inside::Text, '\\') if second.is_some() => (2, Inside::Text),
        (Inside::Text, '"') => (1, Inside::Code),
        (Inside::RawText { hashes }, '"')
            if rest[1..].iter().take(hashes).filter(|&&c| c == '#').count() == hashes =>
        {
            (1 + hashes, Inside::Code)
        }
        (unchanged, _) => (1, unchanged),
    }
}

/// `'x'` and `'\n'` are literals; `'a` in `&'a str` is a lifetime and only one character wide here.
fn char_literal_width(rest: &[char]) -> usize {
    match rest {
        ['\'', '\\', _, tail @ ..] => tail.iter().position(|&c| c == '\'').map_or(1, |end| end + 4),
        ['\'', _, '\'', ..] => 3,
        _ => 1,
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

const TEST_ATTRIBUTE: &str = "#[cfg(test)]";

/// Blanks each item under `#[cfg(test)]`, and names the modules declared that way which live in other files.
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

/// Up to the `;` that ends the item or the `}` that closes its first brace.
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
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, code: &str, comments: &str) {
        let squeeze = |view: String| view.split_whitespace().collect::<Vec<_>>().join(" ");
        let (found_code, found_comments) = separate(text);
        assert_eq!(found_code.matches('\n').count(), text.matches('\n').count(), "lines are kept");
        assert_eq!((squeeze(found_code).as_str(), squeeze(found_comments).as_str()), (code, comments));
    }

    #[test]
    fn comments_leave_the_code() {
        check("a(); // why\nb();", "a(); b();", "// why");
        check("a /* one /* two */ still */ b", "a b", "/* one /* two */ still */");
    }

    #[test]
    fn literals_lose_their_inside_and_hide_no_code() {
        check(r#"f("// not a comment \" x", y)"#, "f( , y)", "");
        check(r###"f(r#"a " b // c"#, y)"###, "f( , y)", "");
        check(r###"f(br#"a"#, '"', '\'', '\u{1F600}', b'/')"###, "f(b , , , , b )", "");
    }

    #[test]
    fn lifetimes_are_not_literals() {
        check("fn f<'a>(x: &'a str, y: &'static str) {}", "fn f<'a>(x: &'a str, y: &'static str) {}", "");
    }

    #[test]
    fn a_word_ending_in_r_starts_no_raw_string() {
        check(r#"for"x"; 1"#, "for ; 1", "");
    }

    #[test]
    fn test_items_are_not_product_code() {
        let (product, modules) =
            without_tests("use a;\n#[cfg(test)]\nmod tests { fn f() { g(); } }\nfn h() {}");
        assert_eq!(product.split_whitespace().collect::<Vec<_>>(), ["use", "a;", "fn", "h()", "{}"]);
        assert_eq!(product.lines().count(), 4);
        assert!(modules.is_empty());
    }

    #[test]
    fn a_test_module_in_its_own_file_is_found_wherever_its_parent_lies() {
        for (parent, child) in [
            ("crates/a/src/lib.rs", "crates/a/src/grid.rs"),
            ("crates/a/src/life/mod.rs", "crates/a/src/life/grid.rs"),
            ("crates/a/src/life.rs", "crates/a/src/life/grid/mod.rs"),
        ] {
            let tree = Tree::of(&[(parent, "#[cfg(test)]\nmod grid;\nfn f() {}"), (child, "use std::fs;")]);
            let products: Vec<bool> = rust_files(&tree).iter().map(|file| file.product.is_empty()).collect();
            assert_eq!(products, [false, true], "{parent} declares {child}");
        }
    }

    #[test]
    fn a_test_file_is_also_known_by_its_place_and_name() {
        let tree = Tree::of(&[("crates/a/tests/it/main.rs", "fn main() {}"), ("src/ids_tests.rs", "use a;")]);
        assert!(rust_files(&tree).iter().all(|file| file.product.is_empty()));
    }
}
