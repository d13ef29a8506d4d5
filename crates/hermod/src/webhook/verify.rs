//! `hermod webhook verify`: verifies the signature of a saved webhook.

use crate::failure::{CommandResult, Failure};
use crate::input_file::first_line;
use crate::output::print;
use clap::Args;
use hermod_gateway::webhook_signature::{SIGNATURE, SignatureHeader, valid_signatures};
use std::io::Read as _;
use std::path::{Path, PathBuf};

pub(super) const EXAMPLES: &str = "\
Examples:
  hermod webhook verify --secret-file secret.txt --body body.json --signature 5bdcc146bf60754e...
  hermod webhook verify --secret-file secret.txt --body - --header 'webhook-id: evt_42' \\
      --header 'webhook-timestamp: 1794754616' --header 'webhook-signature: v1,K5oZ...' < body.json

The body must be exactly the received bytes, not JSON that was parsed and written again. The secret is the text that you
were given.

Exit codes: 0 valid; 1 not valid; 2 the command line is invalid.";

/// Larger than any webhook.
const BODY_BYTES_MAX: u64 = 1024 * 1024;

#[derive(Args)]
pub(super) struct VerifyArgs {
    /// File with the webhook secret in its first line
    #[arg(long, value_name = "FILE")]
    secret_file: PathBuf,
    /// File with the received body; - reads standard input
    #[arg(long, value_name = "FILE")]
    body: PathBuf,
    /// The value of X-SVC-Signature
    #[arg(long, value_name = "HEX", required_unless_present = "header")]
    signature: Option<String>,
    /// A received header as 'Name: value'; repeatable
    #[arg(long, value_name = "HEADER")]
    header: Vec<String>,
}

impl VerifyArgs {
    pub(super) fn run(self) -> CommandResult {
        let secret = first_line(&self.secret_file)?;
        let body = read(&self.body)?;
        let headers = self.headers()?;
        let header = |name: &str| {
            let found = headers.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.as_str())
        };
        let found = valid_signatures(&secret, &body, header);
        print(&verdict(&found))?;
        if found.is_empty() { Err(Failure::printed()) } else { Ok(()) }
    }

    fn headers(&self) -> Result<Vec<(String, String)>, Failure> {
        let signature = self.signature.iter().map(|hex| Ok((SIGNATURE.to_owned(), hex.trim().to_owned())));
        let given = self.header.iter().map(|header| {
            let (name, value) = header
                .split_once(':')
                .ok_or_else(|| Failure::usage(format!("'{header}' is not a header: write 'Name: value'")))?;
            Ok((name.trim().to_ascii_lowercase(), value.trim().to_owned()))
        });
        signature.chain(given).collect()
    }
}

/// Returns whether the signature is valid, as text.
pub(super) fn verdict(found: &[SignatureHeader]) -> String {
    if found.is_empty() {
        return "NOT valid: no header has a signature of this body with this secret\n".to_owned();
    }
    let headers: Vec<_> = found.iter().map(|proof| proof.header()).collect();
    format!("valid: signed with this secret in {}\n", headers.join(" and "))
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let about = |error: std::io::Error| Failure::usage(format!("{}: {error}", file.display()));
    let mut body = Vec::new();
    let read = if file == Path::new("-") {
        std::io::stdin().take(BODY_BYTES_MAX + 1).read_to_end(&mut body)
    } else {
        std::fs::File::open(file).map_err(about)?.take(BODY_BYTES_MAX + 1).read_to_end(&mut body)
    };
    if u64::try_from(read.map_err(about)?).unwrap_or(u64::MAX) > BODY_BYTES_MAX {
        return Err(Failure::usage(format!("{}: larger than any webhook", file.display())));
    }
    Ok(body)
}
