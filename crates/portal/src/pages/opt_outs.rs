//! Opt-outs: numbers that get no messages from this account.

use crate::forms::Field;
use crate::layout::Shell;
use crate::time::Time;
use askama::Template;

/// `GET /accounts/{account}/opt-outs?number=…&after=…`. Posts to the same address (`number`, `note`), to `opt-outs/import`
/// (`numbers`, `import_note`) and to `opt-outs/keywords` (`words`); lifting is the page `opt-outs/{number}/lift`.
#[derive(Clone, Debug, Template)]
#[template(path = "opt_outs.html")]
pub struct OptOutsPage {
    pub shell: Shell,
    pub search: Field,
    pub is_filtered: bool,
    /// In the order of the numbers.
    pub rows: Vec<OptOutRow>,
    pub next: Option<String>,
    /// `None` if the role may not add or lift.
    pub change: Option<ChangeOptOuts>,
    /// What became of the numbers that were just imported.
    pub imported: Option<Imported>,
    /// The list as CSV.
    pub export: String,
    /// The words of every account that opt a handset out, such as `STOP`.
    pub keywords: Vec<String>,
    /// The account's own words.
    pub own_keywords: Vec<String>,
}

/// A number that opted out.
#[derive(Clone, Debug)]
pub struct OptOutRow {
    pub number: String,
    pub since: Time,
    /// `keyword`, `portal`, `operator` or `import`.
    pub source: String,
    /// `replied STOP`, or `asked by phone (added by jana@…)`.
    pub how: String,
}

/// The forms that change the list.
#[derive(Clone, Debug, Default)]
pub struct ChangeOptOuts {
    pub number: Field,
    pub note: Field,
    /// One number for each line.
    pub numbers: Field,
    pub import_note: Field,
    /// The most lines of one import, such as `1,000`.
    pub lines_max: String,
    /// One of the account's own words for each line.
    pub words: Field,
}

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Numbers that are new on the list.
    pub added: String,
    /// Numbers that were on it already.
    pub known: String,
    /// Lines that are no number, and why.
    pub wrong: Vec<WrongLine>,
}

/// A line of an import that was not added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrongLine {
    /// Its place, from 1.
    pub line: usize,
    pub text: String,
    pub why: String,
}
