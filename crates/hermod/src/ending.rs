//! How a command ends: well, or with a sentence for a person and a code for a script.

use std::fmt::Display;
use std::process::ExitCode;

pub(crate) type Ended = Result<(), Failure>;

pub(crate) struct Failure {
    code: u8,
    /// Nothing, where everything has been said already.
    sentence: Option<String>,
}

impl Failure {
    /// It could not be done, through no fault of whoever asked.
    pub(crate) fn failed(sentence: impl Display) -> Failure {
        Failure { code: 1, sentence: Some(sentence.to_string()) }
    }

    /// Something that a person wrote needs mending.
    pub(crate) fn mend(sentence: impl Display) -> Failure {
        Failure { code: 2, sentence: Some(sentence.to_string()) }
    }

    /// The same, with advice behind it.
    pub(crate) fn and_then_say(self, advice: &str) -> Failure {
        Failure { sentence: self.sentence.map(|sentence| format!("{sentence}; {advice}")), ..self }
    }

    /// It is all on standard output.
    pub(crate) fn told() -> Failure {
        Failure { code: 1, sentence: None }
    }
}

pub(crate) fn exit_code(ended: Ended) -> ExitCode {
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
