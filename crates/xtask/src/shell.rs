//! Runs other programs from the workspace root, and asks gateways on this machine for their health and metrics in plain HTTP. A
//! failed program becomes a `Failure` that names the command, so that it can be run again by hand.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Between two looks at another process.
const POLL: Duration = Duration::from_millis(50);
/// A gateway that does not answer for this long is not well.
const HTTP_WAIT: Duration = Duration::from_secs(10);

/// Why a command failed, as one sentence.
#[derive(Debug)]
pub(crate) struct Failure(pub(crate) String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

pub(crate) type Outcome = Result<(), Failure>;

pub(crate) fn root() -> PathBuf {
    let own_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    own_folder.ancestors().nth(2).expect("xtask lies two folders below the root").to_path_buf()
}

pub(crate) fn command(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(root());
    command
}

/// Runs a program on this terminal. An exit code other than 0 is a failure.
pub(crate) fn run(mut command: Command) -> Outcome {
    let shown = show(&command);
    let status = command.status().map_err(|cause| Failure(format!("cannot start `{shown}`: {cause}")))?;
    if status.success() { Ok(()) } else { Err(Failure(format!("`{shown}` failed ({status})"))) }
}

/// As `run`; also calls `on_line` with each line of standard output.
pub(crate) fn run_watching(mut command: Command, mut on_line: impl FnMut(&str)) -> Outcome {
    let shown = show(&command);
    let cannot = |cause: io::Error| Failure(format!("cannot run `{shown}`: {cause}"));
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(cannot)?;
    let stdout = child.stdout.take().expect("standard output was piped above");
    for line in BufReader::new(stdout).split(b'\n') {
        // A test may print bytes that are not UTF-8; they must not end the run.
        let line = String::from_utf8_lossy(&line.map_err(cannot)?).into_owned();
        println!("{line}");
        on_line(&line);
    }
    let status = child.wait().map_err(cannot)?;
    if status.success() { Ok(()) } else { Err(Failure(format!("`{shown}` failed ({status})"))) }
}

/// Whether a program starts and succeeds. Its output is discarded.
pub(crate) fn succeeds(program: &str, args: &[&str]) -> bool {
    output_of(program, args).is_some()
}

/// Returns the output of a program; none if it cannot be run or fails.
pub(crate) fn output_of(program: &str, args: &[&str]) -> Option<String> {
    let output = command(program, args).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn show(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Returns the whole response, its head included.
pub(crate) fn http_get(address: &str, path: &str) -> Result<String, Failure> {
    http(address, &format!("GET {path}"), "", "").map(|octets| String::from_utf8_lossy(&octets).into_owned())
}

/// Sends a request of this method and path, with these further lines in its head. Returns the whole response.
pub(crate) fn http(address: &str, what: &str, head: &str, body: &str) -> Result<Vec<u8>, Failure> {
    let cannot = |cause: std::io::Error| Failure(format!("{what} at {address}: {cause}"));
    let mut stream = TcpStream::connect(address).map_err(cannot)?;
    stream.set_read_timeout(Some(HTTP_WAIT)).map_err(cannot)?;
    let length = body.len();
    let request = format!(
        "{what} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {length}\r\n{head}\r\n{body}"
    );
    stream.write_all(request.as_bytes()).map_err(cannot)?;
    let mut response = Vec::new();
    stream.read_to_end(&mut response).map_err(cannot)?;
    Ok(response)
}

/// Whether the gateway at this address can serve.
pub(crate) fn is_ready(address: &str) -> bool {
    http_get(address, "/readyz").is_ok_and(|response| response.starts_with("HTTP/1.1 200"))
}

/// Lets real time pass while other processes work.
pub(crate) fn pause(wait: Duration) {
    #[expect(clippy::disallowed_methods, reason = "waits for other processes; no product code runs here")]
    std::thread::sleep(wait);
}

#[expect(clippy::disallowed_methods, reason = "times other processes; no product code runs here")]
pub(crate) fn stopwatch() -> Instant {
    Instant::now()
}

/// Waits until `done`, at most this long; `done` fails where waiting is in vain.
pub(crate) fn wait_until(
    what: &str,
    most: Duration,
    mut done: impl FnMut() -> Result<bool, Failure>,
) -> Outcome {
    let started = stopwatch();
    while !done()? {
        if started.elapsed() > most {
            return Err(Failure(format!("waited {most:?} for {what} in vain")));
        }
        pause(POLL);
    }
    Ok(())
}
