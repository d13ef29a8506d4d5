//! A document has exactly one title, on its first line.

use crate::rules::Violation;
use crate::tree::Tree;

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    tree.with_extension("md").flat_map(|file| check_document(&file.path, &file.text)).collect()
}

fn check_document(path: &str, text: &str) -> Vec<Violation> {
    let prose = prose_lines(text);
    let titles: Vec<usize> =
        prose.iter().filter(|(_, line)| line.starts_with("# ")).map(|(number, _)| *number).collect();
    match titles.as_slice() {
        [1] => Vec::new(),
        [] => vec![Violation::new(path, 1, "start the document with its title: `# ...`")],
        [first, more @ ..] => {
            let late =
                (*first != 1).then(|| Violation::new(path, *first, "the title belongs on the first line"));
            let second =
                |line: &usize| Violation::new(path, *line, "a second title: use `##`, or a second document");
            late.into_iter().chain(more.iter().map(second)).collect()
        }
    }
}

/// Returns the lines outside fenced code, with their numbers.
pub(crate) fn prose_lines(text: &str) -> Vec<(usize, &str)> {
    let mut fenced = false;
    let mut prose = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        fenced ^= is_fence;
        if !fenced && !is_fence {
            prose.push((index + 1, line));
        }
    }
    prose
}

#[cfg(test)]
#[path = "markdown_titles_tests.rs"]
mod tests;
