//! A PostgreSQL server for tests and benchmarks, from packages of the distribution: its own data folder, on the loopback, and
//! stopped with the command that started it.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shell::{self, Failure, Outcome, command};
use crate::tools;

/// Where Debian has the programs of each version.
const VERSIONS: &str = "/usr/lib/postgresql";
/// The user that the package creates. PostgreSQL refuses to run as root.
const USER: &str = "postgres";
/// The variable that gives the address to the tests.
pub(crate) const VARIABLE: &str = "HERMOD_TEST_POSTGRES";

/// A server that runs until this is dropped.
pub(crate) struct Server {
    programs: PathBuf,
    folder: PathBuf,
    pub(crate) url: String,
}

/// Installs PostgreSQL if it is missing. Returns the folder of its programs.
pub(crate) fn ensure() -> Result<PathBuf, Failure> {
    if let Some(programs) = newest() {
        return Ok(programs);
    }
    println!("PostgreSQL is missing: installing postgresql");
    tools::apt_install(&["postgresql"])?;
    newest().ok_or_else(|| Failure(format!("no initdb below {VERSIONS}")))
}

/// Returns the programs of the newest version.
fn newest() -> Option<PathBuf> {
    let versions = fs::read_dir(VERSIONS).ok()?.flatten();
    let number = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let newest = versions.map(|version| version.path()).filter(|path| path.join("bin/initdb").exists());
    newest.max_by_key(|path| number(path)).map(|path| path.join("bin"))
}

impl Server {
    /// Starts a server with an empty data folder, without fsync: what a test stores need not survive the machine.
    pub(crate) fn start() -> Result<Server, Failure> {
        let programs = ensure()?;
        let folder = std::env::temp_dir().join(format!("hermod-postgres-{}", std::process::id()));
        let port = free_port()?;
        let server = Server {
            programs,
            folder,
            url: format!("postgres://{USER}@{}:{port}/postgres", Ipv4Addr::LOCALHOST),
        };
        server.run("mkdir", &["-p", &server.path("")])?;
        let initdb = ["-D", &server.path("data"), "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C"];
        server.run("initdb", &[&initdb[..], &["--no-sync", "--no-instructions"]].concat())?;
        let options = format!(
            "-c port={port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={} -c max_connections=200 \
             -c fsync=off -c full_page_writes=off -c max_wal_size=2GB",
            server.path("")
        );
        let log = server.path("log");
        server.run("pg_ctl", &["-D", &server.path("data"), "-l", &log, "-o", &options, "-w", "start"])?;
        Ok(server)
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).to_string_lossy().into_owned()
    }

    fn run(&self, program: &str, args: &[&str]) -> Outcome {
        let mut run = as_owner(&self.programs, program, args);
        run.stdout(std::process::Stdio::null());
        shell::run(run)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Err(failure) = self.run("pg_ctl", &["-D", &self.path("data"), "-m", "immediate", "-w", "stop"])
        {
            println!("PostgreSQL was not stopped: {failure}");
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Makes a command of the user that owns the data folders. `program` is one of PostgreSQL or of the system.
pub(crate) fn as_owner(programs: &Path, program: &str, args: &[&str]) -> Command {
    let own = programs.join(program);
    let program = if own.exists() { own.to_string_lossy().into_owned() } else { program.to_owned() };
    let mut run = match owner() {
        Some(user) => {
            let mut run = command("runuser", &["-u", user, "--", &program]);
            run.args(args);
            run
        }
        None => command(&program, args),
    };
    run.current_dir("/");
    run
}

/// The user that servers run as: that of the package for root, else none, which is this user.
pub(crate) fn owner() -> Option<&'static str> {
    is_root().then_some(USER)
}

fn is_root() -> bool {
    shell::output_of("id", &["-u"]).is_some_and(|id| id.trim() == "0")
}

pub(crate) fn free_port() -> Result<u16, Failure> {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let address = TcpListener::bind(any).and_then(|listener| listener.local_addr());
    address.map(|address| address.port()).map_err(|cause| Failure(format!("no free port: {cause}")))
}
