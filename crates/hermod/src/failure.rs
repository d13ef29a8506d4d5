//! The result of a command: success, or a failure with an error text and an exit code.

use std::fmt::Display;
use std::process::ExitCode;

pub(crate) type CommandResult = Result<(), Failure>;

#[derive(Debug)]
pub(crate) struct Failure {
    code: u8,
    /// None if everything has been printed already.
    sentence: Option<String>,
}

impl Failure {
    /// The command failed: exit code 1.
    pub(crate) fn failed(sentence: impl Display) -> Failure {
        Failure { code: 1, sentence: Some(sentence.to_string()) }
    }

    /// The command line or a file is invalid: exit code 2.
    pub(crate) fn usage(sentence: impl Display) -> Failure {
        Failure { code: 2, sentence: Some(sentence.to_string()) }
    }

    /// Adds advice to the error text.
    pub(crate) fn with_advice(self, advice: &str) -> Failure {
        Failure { sentence: self.sentence.map(|sentence| format!("{sentence}; {advice}")), ..self }
    }

    /// The command could not check everything, and standard output says what: exit code 3.
    pub(crate) fn incomplete() -> Failure {
        Failure { code: 3, sentence: None }
    }

    /// The command failed, and standard output says how.
    pub(crate) fn printed() -> Failure {
        Failure { code: 1, sentence: None }
    }
}

pub(crate) fn exit_code(ended: CommandResult) -> ExitCode {
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure { code, sentence }) => {
            if let Some(sentence) = sentence {
                eprintln!("hermod: {sentence}");
            }
            ExitCode::from(code)
        }
    }
}
