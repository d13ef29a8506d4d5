//! The PostgreSQL of the cluster: a primary on 127.0.0.1 and, if wanted, a synchronous standby on 127.0.0.2, from the packages
//! of the distribution. Both sync to disk.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::child::{Child, Program};
use super::text;
use crate::postgres;
use crate::shell::{self, Failure, Outcome};

/// The role of the gateways, its password and the database, as in docs/postgresql.md.
pub(crate) const ROLE: &str = "hermod";
pub(crate) const PASSWORD: &str = "loopback-only";
pub(crate) const DATABASE: &str = "sms";
const PRIMARY: (&str, &str) = ("primary", "127.0.0.1");
const STANDBY: (&str, &str) = ("standby", "127.0.0.2");

/// Who may connect. The socket is in a folder of its owner.
const CLIENTS: &str =
    "host all hermod 127.0.0.0/8 scram-sha-256\nlocal all all trust\nlocal replication all trust\n";

/// It only bounds a hang.
const START_WAIT: Duration = Duration::from_secs(300);

pub(crate) struct Database {
    programs: PathBuf,
    folder: PathBuf,
    pub(crate) port: u16,
    settings: String,
    pub(crate) primary: Child,
    pub(crate) standby: Option<Child>,
}

impl Database {
    /// Starts a primary with an empty database. `settings` are options of `postgres`. `certificates` is a folder with
    /// `certificate.pem` and `key.pem` for each of its addresses.
    pub(crate) fn start(folder: &Path, certificates: &Path, settings: &str) -> Result<Database, Failure> {
        let programs = postgres::ensure()?;
        let port = postgres::free_port()?;
        for (name, address) in [PRIMARY, STANDBY] {
            make_folder(&folder.join(name))?;
            for file in ["certificate.pem", "key.pem"] {
                let from = certificates.join(address).join(file);
                install(&["-m", "600", &text(&from), &text(&folder.join(name).join(file))])?;
            }
        }
        let data = text(&folder.join(PRIMARY.0).join("data"));
        let initdb = ["-D", &data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
        quietly(postgres::as_owner(&programs, "initdb", &[&initdb[..], &["--no-instructions"]].concat()))?;
        let clients = folder.join("pg_hba.conf");
        std::fs::write(&clients, CLIENTS)
            .map_err(|cause| Failure(format!("cannot write pg_hba.conf: {cause}")))?;
        install(&["-m", "600", &text(&clients), &format!("{data}/pg_hba.conf")])?;
        let settings = settings.to_owned();
        let primary = start_server(&programs, folder, PRIMARY, port, &settings)?;
        let mut database =
            Database { programs, folder: folder.to_owned(), port, settings, primary, standby: None };
        database.wait_for("SELECT 1", "1")?;
        database.query(&format!("CREATE ROLE {ROLE} LOGIN PASSWORD '{PASSWORD}'"))?;
        database.query(&format!("CREATE DATABASE {DATABASE} OWNER {ROLE}"))?;
        Ok(database)
    }

    /// Adds a standby. From then on a commit is acknowledged only once the standby has it on disk.
    pub(crate) fn add_standby(&mut self) -> Outcome {
        let data = text(&self.folder.join(STANDBY.0).join("data"));
        let source = format!(
            "host={} port={} user=postgres application_name={}",
            text(&self.folder.join(PRIMARY.0)),
            self.port,
            STANDBY.0
        );
        let copy = ["-D", &data, "-d", &source, "-R", "-X", "stream", "-c", "fast", "--no-sync"];
        quietly(postgres::as_owner(&self.programs, "pg_basebackup", &copy))?;
        self.standby = Some(start_server(&self.programs, &self.folder, STANDBY, self.port, &self.settings)?);
        self.query(&format!("ALTER SYSTEM SET synchronous_standby_names = '{}'", STANDBY.0))?;
        self.query("SELECT pg_reload_conf()")?;
        self.wait_for("SELECT sync_state FROM pg_stat_replication", "sync")
    }

    /// Runs a statement on the primary. Returns its values, one row per line.
    pub(crate) fn query(&self, statement: &str) -> Result<String, Failure> {
        let (host, port) = (text(&self.folder.join(PRIMARY.0)), self.port.to_string());
        let args = ["-h", &host, "-p", &port, "-U", "postgres", "-XAtc", statement];
        let output = postgres::as_owner(&self.programs, "psql", &args).output();
        let output = output.map_err(|cause| Failure(format!("cannot start psql: {cause}")))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        Err(Failure(format!("{statement}: {}", String::from_utf8_lossy(&output.stderr).trim())))
    }

    /// Waits until a query returns this value.
    fn wait_for(&mut self, query: &str, value: &str) -> Outcome {
        shell::wait_until(&format!("PostgreSQL: `{query}` is not {value}"), START_WAIT, || {
            let is_so = self.query(query).is_ok_and(|answer| answer == value);
            self.require_running()?;
            Ok(is_so)
        })
    }

    pub(crate) fn require_running(&mut self) -> Outcome {
        self.primary.require_running()?;
        self.standby.as_mut().map_or(Ok(()), Child::require_running)
    }

    pub(crate) fn stop(self) -> Outcome {
        self.primary.stop()?;
        self.standby.map_or(Ok(()), Child::stop)
    }
}

fn start_server(
    programs: &Path,
    folder: &Path,
    (name, address): (&str, &str),
    port: u16,
    settings: &str,
) -> Result<Child, Failure> {
    let own = folder.join(name);
    let options = format!(
        "port={port} listen_addresses={address} unix_socket_directories={} max_connections=200 max_wal_size=2GB ssl=on \
         ssl_cert_file={} ssl_key_file={} {settings}",
        own.display(),
        own.join("certificate.pem").display(),
        own.join("key.pem").display()
    );
    let data = text(&own.join("data"));
    let mut args = vec!["-D", &data];
    options.split_whitespace().for_each(|option| args.extend(["-c", option]));
    let program = Program {
        name: &format!("postgresql-{name}"),
        file: &programs.join("postgres"),
        args: &args,
        user: postgres::owner(),
        stop: "INT",
        end: "QUIT",
    };
    Child::start(&program, folder)
}

/// Makes a folder that only the owner of PostgreSQL can read.
fn make_folder(folder: &Path) -> Outcome {
    install(&["-d", "-m", "700", &text(folder)])
}

/// Runs `install` for files of the owner of PostgreSQL.
fn install(args: &[&str]) -> Outcome {
    let owner: Vec<&str> = postgres::owner().map_or(Vec::new(), |user| vec!["-o", user, "-g", user]);
    shell::run(shell::command("install", &[&owner[..], args].concat()))
}

fn quietly(mut command: Command) -> Outcome {
    command.stdout(Stdio::null());
    shell::run(command)
}
