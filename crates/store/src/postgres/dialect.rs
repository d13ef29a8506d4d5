//! Translates the SQL of the tables to PostgreSQL's. The statements avoid what the two databases do not share; what is left
//! is spelled differently: parameters, types of columns and hints.

/// What becomes of a statement's parameters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parameters {
    /// `?1` becomes `$1`.
    One,
    /// `?1` becomes the first column of the rows of values.
    Many,
}

/// Translates a statement that runs with one row of values.
pub(super) fn translate(sql: &str) -> String {
    translate_for(sql, Parameters::One)
}

/// Translates a statement so that it runs once for many rows of values, which are given as one array per parameter. `types` are
/// the types of the parameters. Returns none if the statement cannot.
pub(super) fn translate_for_many(sql: &str, types: &[&str]) -> Option<String> {
    let arrays: Vec<String> =
        types.iter().enumerate().map(|(index, of)| format!("${}::{of}[]", index + 1)).collect();
    let names: Vec<String> = (1..=types.len()).map(|number| format!("p{number}")).collect();
    let values = format!("unnest({}) AS u ({})", arrays.join(", "), names.join(", "));
    let sql = translate_for(sql, Parameters::Many);
    if let Some((head, tail)) = sql.split_once("VALUES (") {
        let (columns, rest) = tail.split_once(')')?;
        return Some(format!("{head}SELECT {columns} FROM {values}{rest}"));
    }
    let (head, condition) = sql.split_once("WHERE")?;
    match head.trim_start().get(..6)? {
        "UPDATE" => Some(format!("{head}FROM {values} WHERE{condition}")),
        "INSERT" | "SELECT" => Some(format!("{head}, {values} WHERE{condition}")),
        "DELETE" => Some(format!("{head}USING {values} WHERE{condition}")),
        _ => None,
    }
}

fn translate_for(sql: &str, parameters: Parameters) -> String {
    let mut out = String::with_capacity(sql.len() + 16);
    let mut words = Words(sql);
    while let Some(word) = words.next() {
        match word {
            "INDEXED" => {
                // INDEXED BY name
                for _ in 0..4 {
                    words.next();
                }
            }
            "?" => {
                out.push_str(if parameters == Parameters::One { "$" } else { "u.p" });
                out.push_str(words.next().unwrap_or_default());
                if words.0.starts_with(" IS ") {
                    // PostgreSQL cannot tell the type. Optional conditions are about numbers.
                    out.push_str("::bigint");
                }
            }
            "INTEGER" => out.push_str("bigint"),
            "BLOB" => out.push_str("bytea"),
            "TEXT" if out.ends_with("AS ") => out.push_str("text"),
            "TEXT" => out.push_str("text COLLATE \"C\""),
            "user" => out.push_str("\"user\""),
            "ifnull" => out.push_str("coalesce"),
            "instr" => out.push_str("strpos"),
            word => out.push_str(word),
        }
    }
    out.replace(" WITHOUT ROWID, STRICT", "")
}

/// Splits SQL into words, single other characters and whole quoted texts.
struct Words<'a>(&'a str);

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let first = self.0.chars().next()?;
        let is_word = |char: char| char.is_alphanumeric() || char == '_';
        let end = if first == '\'' {
            self.0[1..].find('\'').map_or(self.0.len(), |end| end + 2)
        } else if is_word(first) {
            self.0.find(|char| !is_word(char)).unwrap_or(self.0.len())
        } else {
            first.len_utf8()
        };
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        Some(word)
    }
}

#[cfg(test)]
#[path = "dialect_tests.rs"]
mod tests;
