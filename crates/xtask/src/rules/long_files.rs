//! A file has at most 800 lines.

use crate::rules::Violation;
use crate::tree::Tree;

const LINES_MAX: usize = 800;

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let too_long = tree.with_extension("rs").filter_map(|file| {
        let lines = file.text.lines().count();
        (lines > LINES_MAX).then(|| {
            let message = format!("{lines} lines, the limit is {LINES_MAX}: split the file");
            Violation::new(&file.path, LINES_MAX + 1, message)
        })
    });
    too_long.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::check_rule;

    #[test]
    fn file_of_801_lines_is_too_long() {
        let long = "x\n".repeat(LINES_MAX + 1);
        let files = [("a.rs", &long[2..]), ("b.rs", long.as_str()), ("c.md", long.as_str())];
        check_rule(check, &files, &["b.rs:801: 801 lines, the limit is 800: split the file"]);
    }
}
