//! Unit tests of `rust_source.rs`.

use super::*;

#[track_caller]
fn check(text: &str, code: &str, comments: &str) {
    let squeeze = |view: String| view.split_whitespace().collect::<Vec<_>>().join(" ");
    let (found_code, found_comments) = separate(text);
    assert_eq!(found_code.matches('\n').count(), text.matches('\n').count(), "lines are kept");
    assert_eq!((squeeze(found_code).as_str(), squeeze(found_comments).as_str()), (code, comments));
}

#[test]
fn comments_are_blanked_in_code() {
    check("a(); // why\nb(1);", "a(); b(1);", "// why");
    check("a /* one /* two */ still */ b", "a b", "/* one /* two */ still */");
}

#[test]
fn literals_are_blanked_and_hide_no_code() {
    check(r#"f("// not a comment \" x", y)"#, "f( , y)", "");
    check(r###"f(r#"a " b // c"#, y)"###, "f( , y)", "");
    check(r###"f(br#"a"#, '"', '\'', '\u{1F600}', b'/')"###, "f( , , , , )", "");
    check(r#"for"x"; 1"#, "for ; 1", "");
}

#[test]
fn lifetimes_are_not_literals() {
    check("fn f<'a>(x: &'a str, y: &'static str) {}", "fn f<'a>(x: &'a str, y: &'static str) {}", "");
}

#[test]
fn test_items_are_not_product_code() {
    let (product, modules) = without_tests("use a;\n#[cfg(test)]\nmod tests { fn f() { g(); } }\nfn h() {}");
    assert_eq!(product.split_whitespace().collect::<Vec<_>>(), ["use", "a;", "fn", "h()", "{}"]);
    assert_eq!(product.lines().count(), 4);
    assert!(modules.is_empty());
}

#[test]
fn test_module_in_its_own_file_is_found() {
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
fn test_file_is_recognised_by_folder_and_name() {
    let tree = Tree::of(&[("crates/a/tests/it/main.rs", "fn main() {}"), ("src/ids_tests.rs", "use a;")]);
    assert!(rust_files(&tree).iter().all(|file| file.product.is_empty()));
}
