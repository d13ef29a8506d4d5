//! A PostgreSQL server of a test's own, which it may kill, and a standby of it. The programs are those of the distribution's
//! package, as for `cargo xtask test`.

use crate::gateways::free_address;
use crate::real_time::{PATIENCE, block, now, pause};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio_postgres::{NoTls, SimpleQueryMessage};

/// Where Debian has the programs of each version.
const VERSIONS: &str = "/usr/lib/postgresql";
/// The user that the package creates. PostgreSQL refuses to run as root.
const USER: &str = "postgres";
const POLL: Duration = Duration::from_millis(50);

/// A server, stopped and removed when this is dropped.
pub(super) struct OwnServer {
    programs: PathBuf,
    folder: PathBuf,
    address: SocketAddr,
}

impl OwnServer {
    /// Starts a server with an empty data folder, without fsync: a killed process loses nothing by that.
    pub(super) fn start() -> OwnServer {
        let server = OwnServer::new();
        let data = server.path("data");
        let new = ["-D", &data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
        server.run("initdb", &new);
        server.start_again();
        server
    }

    fn new() -> OwnServer {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("hermod-server-{}-{number}", std::process::id()));
        let server = OwnServer { programs: newest_programs(), folder, address: free_address() };
        server.run("mkdir", &["-p", &server.path("")]);
        server
    }

    /// Starts a standby, for which every commit of this server waits from now on.
    pub(super) async fn start_standby(&self) -> OwnServer {
        let standby = OwnServer::new();
        // The standby gets this setting too: it commits nothing on its own after it was promoted.
        self.query("ALTER SYSTEM SET synchronous_standby_names = '*'").await.expect("a setting");
        self.query("SELECT pg_reload_conf()").await.expect("a reload");
        standby.copy(self).await;
        standby
    }

    /// Becomes the standby of another server, with nothing of what it had.
    pub(super) async fn become_standby_of(&self, primary: &OwnServer) {
        self.run("rm", &["-rf", &self.path("data")]);
        self.copy(primary).await;
    }

    async fn copy(&self, primary: &OwnServer) {
        let source = format!("host={} port={} user={USER}", primary.address.ip(), primary.address.port());
        let copy = ["-D", &self.path("data"), "-d", &source, "-R", "-X", "stream", "-c", "fast", "--no-sync"];
        self.run("pg_basebackup", &copy);
        self.start_again();
        let (began, waits) = (now(), "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'");
        while primary.query(waits).await.expect("a query").is_empty() {
            assert!(began.elapsed() < PATIENCE, "no synchronous standby after {PATIENCE:?}");
            pause(POLL).await;
        }
    }

    /// Starts it on the data folder that it has.
    pub(super) fn start_again(&self) {
        let options = format!(
            "-c port={} -c listen_addresses=127.0.0.1 -c unix_socket_directories={} -c max_connections=200 \
             -c fsync=off -c full_page_writes=off",
            self.address.port(),
            self.path("")
        );
        let (data, log, began) = (self.path("data"), self.path("log"), now());
        while !self.succeeds("pg_ctl", &["-D", &data, "-l", &log, "-o", &options, "-w", "start"]) {
            let said = std::fs::read_to_string(&log).unwrap_or_default();
            // Processes of a killed one need a moment to end.
            assert!(began.elapsed() < PATIENCE, "the server does not start: {said}");
            block(POLL);
        }
    }

    /// Sends SIGKILL to the server's main process. Its other processes end when they notice that.
    pub(super) fn kill(&self) {
        let file = self.folder.join("data/postmaster.pid");
        let text = std::fs::read_to_string(file).expect("the server runs");
        let id = text.lines().next().expect("the id of the process");
        let sent = Command::new("kill").args(["-KILL", id]).status().expect("kill is everywhere");
        assert!(sent.success());
    }

    /// Makes a standby the server that is written to.
    pub(super) fn promote(&self) {
        self.run("pg_ctl", &["-D", &self.path("data"), "-w", "promote"]);
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn url(&self) -> String {
        format!("postgres://{USER}@{}/postgres", self.address)
    }

    async fn query(&self, sql: &str) -> Result<Vec<String>, tokio_postgres::Error> {
        query(&self.url(), sql).await
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).to_string_lossy().into_owned()
    }

    fn run(&self, program: &str, args: &[&str]) {
        assert!(self.succeeds(program, args), "{program} failed in {}", self.folder.display());
    }

    /// Runs a program as the user of the package, or as this user where that is not root.
    fn succeeds(&self, program: &str, args: &[&str]) -> bool {
        let own = self.programs.join(program);
        let program = if own.exists() { own } else { program.into() };
        let mut run = if is_root() {
            let mut run = Command::new("runuser");
            run.args(["-u", USER, "--"]).arg(program);
            run
        } else {
            Command::new(program)
        };
        // The server has these handles too: with a pipe the test would wait for its end.
        run.args(args).current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        run.status().expect("the program starts").success()
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        self.succeeds("pg_ctl", &["-D", &self.path("data"), "-m", "immediate", "-w", "stop"]);
        // What is left is in the folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Runs a statement on a new connection. Returns the first column.
pub(super) async fn query(url: &str, sql: &str) -> Result<Vec<String>, tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    let answers = tokio::select! {
        answers = client.simple_query(sql) => answers?,
        ended = connection => {
            ended?;
            Vec::new()
        }
    };
    let text = |answer: SimpleQueryMessage| match answer {
        SimpleQueryMessage::Row(row) => Some(row.get(0).unwrap_or_default().to_owned()),
        _ => None,
    };
    Ok(answers.into_iter().filter_map(text).collect())
}

/// Returns the programs of the newest version.
fn newest_programs() -> PathBuf {
    let versions = std::fs::read_dir(VERSIONS).expect("the package postgresql is installed").flatten();
    let number = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let newest = versions.map(|version| version.path()).filter(|path| path.join("bin/initdb").exists());
    newest.max_by_key(|path| number(path)).expect("a version with initdb").join("bin")
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().expect("id is everywhere");
    id.stdout.trim_ascii() == b"0"
}
