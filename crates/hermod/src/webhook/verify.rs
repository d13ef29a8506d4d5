//! `hermod webhook verify`: a body, its headers and a secret; do they belong together?

use crate::ending::{Ended, Failure};
use crate::secret_file::first_line;
use crate::show::say;
use clap::Args;
use hermod_gateway::webhook_signature::{SIGNATURE, SignatureHeader, valid_signatures};
use std::io::Read as _;
use std::path::{Path, PathBuf};

pub(super) const EXAMPLES: &str = "\
Examples:
  hermod webhook verify --secret-file secret.txt --body body.json --signature 5bdcc146bf60754e...
  hermod webhook verify --secret-file secret.txt --body - --header 'webhook-id: evt_42' \\
      --header 'webhook-timestamp: 1794754616' --header 'webhook-signature: v1,K5oZ...' < body.json

The body must be the octets that came, not what some library made of them: a space more, and it is another
body. The secret is the text you were given, as it is.

Exit codes: 0 genuine; 1 not; 2 something in the command needs mending.";

/// Nobody is sent a webhook as long as this.
const BODY_BYTES_MAX: u64 = 1024 * 1024;

#[derive(Args)]
pub(super) struct Verify {
    /// File with the webhook secret in its first line
    #[arg(long, value_name = "FILE")]
    secret_file: PathBuf,
    /// File with the body as it came; - reads standard input
    #[arg(long, value_name = "FILE")]
    body: PathBuf,
    /// The value of X-SVC-Signature
    #[arg(long, value_name = "HEX", required_unless_present = "header")]
    signature: Option<String>,
    /// A header that came, as 'Name: value'; may be given several times
    #[arg(long, value_name = "HEADER")]
    header: Vec<String>,
}

impl Verify {
    pub(super) fn run(self) -> Ended {
        let secret = first_line(&self.secret_file)?;
        let body = read(&self.body)?;
        let headers = self.headers()?;
        let header = |name: &str| {
            let found = headers.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.as_str())
        };
        let found = valid_signatures(&secret, &body, header);
        say(&verdict(&found))?;
        if found.is_empty() { Err(Failure::told()) } else { Ok(()) }
    }

    fn headers(&self) -> Result<Vec<(String, String)>, Failure> {
        let signature = self.signature.iter().map(|hex| Ok((SIGNATURE.to_owned(), hex.trim().to_owned())));
        let given = self.header.iter().map(|header| {
            let (name, value) = header.split_once(':').ok_or_else(|| {
                Failure::mend(format!("'{header}' is no header: write it as 'Name: value'"))
            })?;
            Ok((name.trim().to_ascii_lowercase(), value.trim().to_owned()))
        });
        signature.chain(given).collect()
    }
}

/// What the headers prove, for a person.
pub(super) fn verdict(found: &[SignatureHeader]) -> String {
    if found.is_empty() {
        return "NOT genuine: no signature among the headers was made with this secret over this body\n"
            .to_owned();
    }
    let headers: Vec<_> = found.iter().map(|proof| proof.header()).collect();
    format!("genuine: this secret made {}\n", headers.join(" and "))
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let about = |error: std::io::Error| Failure::mend(format!("{}: {error}", file.display()));
    let mut body = Vec::new();
    let read = if file == Path::new("-") {
        std::io::stdin().take(BODY_BYTES_MAX + 1).read_to_end(&mut body)
    } else {
        std::fs::File::open(file).map_err(about)?.take(BODY_BYTES_MAX + 1).read_to_end(&mut body)
    };
    if u64::try_from(read.map_err(about)?).unwrap_or(u64::MAX) > BODY_BYTES_MAX {
        return Err(Failure::mend(format!("{}: longer than any webhook", file.display())));
    }
    Ok(body)
}
