//! Lists the paths in Rust code: `use` trees written out in full, and paths in expressions and types. Expects code whose
//! comments and literals are blanked.

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NamedPath {
    pub(crate) line: usize,
    pub(crate) segments: Vec<String>,
}

impl NamedPath {
    /// Whether this path is at or below `prefix`. A glob import of the parent counts.
    pub(crate) fn names(&self, prefix: &str) -> bool {
        let mut wanted = prefix.split("::");
        let mut found = self.segments.iter();
        loop {
            match (wanted.next(), found.next().map(String::as_str)) {
                (None, _) | (Some(_), Some("*")) => return true,
                (Some(want), Some(segment)) if want == segment => {}
                (Some(_), _) => return false,
            }
        }
    }

    pub(crate) fn text(&self) -> String {
        self.segments.join("::")
    }
}

/// Returns the crate's folder and the module of a source file; none for a file outside of `src`.
pub(crate) fn module_of(path: &str) -> Option<(&str, Vec<String>)> {
    let (_, inside) = path.split_once("/src/")?;
    let folder = path.strip_suffix(inside)?.strip_suffix("src/")?;
    let module = inside.strip_suffix(".rs").unwrap_or(inside);
    let module = match module {
        "lib" | "main" => "",
        _ => module.strip_suffix("/mod").unwrap_or(module),
    };
    Some((folder, module.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect()))
}

/// Resolves `crate`, `self` and `super`. Returns the path from the crate's root; empty for paths of other crates.
pub(crate) fn absolute(module: &[String], named: &NamedPath) -> Vec<String> {
    let mut base: Vec<String> = match named.segments.first().map(String::as_str) {
        Some("crate") => Vec::new(),
        Some("self" | "super") => module.to_vec(),
        _ => return Vec::new(),
    };
    for segment in &named.segments {
        match segment.as_str() {
            "crate" | "self" => {}
            "super" => drop(base.pop()),
            name => base.push(name.to_owned()),
        }
    }
    base
}

/// Returns every path of two segments or more, and every import.
pub(crate) fn named_paths(code: &str) -> Vec<NamedPath> {
    let tokens = tokens(code);
    let (mut paths, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        at = match tokens[at].1 {
            Token::Word("use") => use_tree(&tokens, at + 1, &[], &mut paths),
            Token::Word(_) => expression_path(&tokens, at, &mut paths),
            _ => at + 1,
        };
    }
    paths
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token<'c> {
    Word(&'c str),
    PathSeparator,
    Open,
    Close,
    Comma,
    Star,
    Other,
}

fn tokens(code: &str) -> Vec<(usize, Token<'_>)> {
    let mut found = Vec::new();
    for (index, line) in code.lines().enumerate() {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let word = rest.len() - rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').len();
            let (width, token) = match first {
                _ if word > 0 => (word, Token::Word(&rest[..word])),
                ':' if rest.starts_with("::") => (2, Token::PathSeparator),
                '{' => (1, Token::Open),
                '}' => (1, Token::Close),
                ',' => (1, Token::Comma),
                '*' => (1, Token::Star),
                other => (other.len_utf8(), Token::Other),
            };
            found.push((index + 1, token));
            rest = rest[width..].trim_start();
        }
    }
    found
}

fn token_at<'c>(tokens: &[(usize, Token<'c>)], at: usize) -> Token<'c> {
    tokens.get(at).map_or(Token::Other, |(_, token)| *token)
}

/// Reads one branch of a `use` tree. Returns the position after it.
fn use_tree(
    tokens: &[(usize, Token<'_>)],
    start: usize,
    prefix: &[String],
    paths: &mut Vec<NamedPath>,
) -> usize {
    let mut segments = prefix.to_vec();
    let mut at = start;
    loop {
        match token_at(tokens, at) {
            Token::Word("as") => at += 2,
            Token::Word("self") if !prefix.is_empty() => at += 1,
            Token::Word(word) => {
                segments.push(word.to_owned());
                at += 1;
            }
            Token::Star => {
                segments.push("*".to_owned());
                at += 1;
            }
            Token::PathSeparator => at += 1,
            Token::Open => return use_branches(tokens, at + 1, &segments, paths),
            Token::Close | Token::Comma | Token::Other => break,
        }
    }
    if let Some((line, _)) = tokens.get(start).filter(|_| at > start) {
        paths.push(NamedPath { line: *line, segments });
    }
    at
}

fn use_branches(
    tokens: &[(usize, Token<'_>)],
    start: usize,
    prefix: &[String],
    paths: &mut Vec<NamedPath>,
) -> usize {
    let mut at = start;
    while at < tokens.len() {
        match token_at(tokens, at) {
            Token::Close => return at + 1,
            Token::Comma | Token::Other => at += 1,
            _ => at = use_tree(tokens, at, prefix, paths),
        }
    }
    at
}

fn expression_path(tokens: &[(usize, Token<'_>)], start: usize, paths: &mut Vec<NamedPath>) -> usize {
    let mut segments = Vec::new();
    let mut at = start;
    while let Token::Word(word) = token_at(tokens, at) {
        segments.push(word.to_owned());
        at += 1;
        match (token_at(tokens, at), token_at(tokens, at + 1)) {
            (Token::PathSeparator, Token::Word(_)) => at += 1,
            _ => break,
        }
    }
    // `serde::{...}` outside of `use` and `Vec::<u8>` end here; one word is not a path.
    if segments.len() > 1 || token_at(tokens, at) == Token::PathSeparator {
        paths.push(NamedPath { line: tokens[start].0, segments });
    }
    at
}

#[cfg(test)]
#[path = "rust_paths_tests.rs"]
mod tests;
