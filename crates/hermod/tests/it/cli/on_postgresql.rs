//! Commands about a store on PostgreSQL, and secrets that are not in the data folder. Most need the server that
//! `HERMOD_TEST_POSTGRES` names.

use super::operator_fixture::OperatorFixture;
use super::process::{Process, hermod, output_of, path, wait_until_serving};
use crate::real_time::wait_until;
use crate::store_access::store_of;
use hermod_gateway::config::StoreAddress;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A pepper and an operator token, as environment variables.
const SECRETS: [(&str, &str); 2] = [
    ("HERMOD_PEPPER", "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF"),
    ("HERMOD_OPERATOR_TOKEN", "a-token-of-at-least-26-characters"),
];
/// Rows for several steps of a copy: 46 octets each.
const MANY_ROWS: &str = "
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250000)
    INSERT INTO opt_out (account, number, at, source, how) SELECT 1, 4915200000000 + i, i, 'keyword', 'STOP' FROM n;";
/// After this many octets the proxy stops: the first step is complete, the second is not.
const FORWARDED_OCTETS: usize = 7_000_000;

/// Returns the address of the store of a fixture; none without a server.
fn server_of(fixture: &OperatorFixture) -> Option<String> {
    match store_of(&fixture.data()) {
        StoreAddress::Postgres(url) => Some(url),
        StoreAddress::Embedded => {
            println!("only for PostgreSQL");
            None
        }
    }
}

/// Writes settings with this section [data].
fn settings(fixture: &OperatorFixture, name: &str, data: &str) -> PathBuf {
    let file = fixture.file(name);
    let text = format!(
        "[data]\n{data}\n[smpp]\nlisten = \"127.0.0.1:0\"\n[http]\nlisten = \"{}\"\n[log]\nlevel = \"error\"\n",
        fixture.address
    );
    std::fs::write(&file, text).expect("a settings file");
    file
}

/// Runs a command with these settings and variables. Returns exit code, standard output and standard error.
fn run(settings: &Path, args: &[&str], variables: &[(&str, &str)]) -> (i32, String, String) {
    let mut command = hermod(&[args, &["--config", path(settings)]].concat());
    output_of(command.envs(variables.iter().copied()))
}

#[track_caller]
fn run_ok(settings: &Path, args: &[&str]) -> String {
    let (code, out, stderr) = run(settings, args, &[]);
    assert_eq!(code, 0, "{args:?}: {out}{stderr}");
    out
}

#[track_caller]
fn assert_fails(settings: &Path, args: &[&str], sentence: &str) {
    let (code, out, stderr) = run(settings, args, &[]);
    assert!(code != 0 && stderr.contains(sentence), "{args:?}: {out}{stderr}");
}

/// A side of a proxy.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Client,
    Server,
}

/// Forwards between a client and a server until this side has sent [`FORWARDED_OCTETS`], and then nothing more of it. Returns its
/// port, and whether it has stopped.
fn stalling_proxy(behind: String, stalled: Side) -> (u16, Arc<AtomicBool>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let has_stopped = Arc::new(AtomicBool::new(false));
    let stopped = has_stopped.clone();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let server = TcpStream::connect(&behind).expect("the server");
            let (from, to) = if stalled == Side::Client { (client, server) } else { (server, client) };
            let (mut back_from, mut back_to) =
                (to.try_clone().expect("a socket"), from.try_clone().expect("a socket"));
            std::thread::spawn(move || {
                drop(std::io::copy(&mut back_from, &mut back_to));
                close(&back_from, &back_to);
            });
            let stopped = stopped.clone();
            std::thread::spawn(move || forward_some(from, to, &stopped));
        }
    });
    (port, has_stopped)
}

fn forward_some(mut from: TcpStream, mut to: TcpStream, stopped: &AtomicBool) {
    let (mut buffer, mut left) = (vec![0; 1 << 16], FORWARDED_OCTETS);
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        if length > left {
            left = 0;
            stopped.store(true, Ordering::Release);
            continue;
        }
        left -= length;
        if to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    close(&from, &to);
}

/// Ends both connections, because the process at one of them has ended.
fn close(one: &TcpStream, other: &TcpStream) {
    drop((one.shutdown(Shutdown::Both), other.shutdown(Shutdown::Both)));
}

/// Returns the address of a server through a proxy that stalls, and whether it has stopped.
fn through_stalling_proxy(server: &str, stalled: Side) -> (String, Arc<AtomicBool>) {
    let (_, rest) = server.split_once('@').expect("a user");
    let (address, _) = rest.split_once('/').expect("a database");
    let (port, has_stopped) = stalling_proxy(address.to_owned(), stalled);
    (server.replace(address, &format!("127.0.0.1:{port}")), has_stopped)
}

/// Starts a copy through a proxy, and kills it in the second step of the largest table.
fn kill_in_second_step(args: &[&str], has_stopped: &AtomicBool) {
    let mut copying = Process::start(args);
    wait_until("the copy is in its second step", || has_stopped.load(Ordering::Acquire));
    copying.child.kill().expect("it runs");
    copying.child.wait().expect("it ends");
}

/// Copies once the server has noticed that the killed copy is gone. Returns what the command prints.
fn copy_after_a_kill(settings: &Path, args: &[&str]) -> String {
    let mut copied = String::new();
    wait_until("the killed copy is gone", || {
        let (code, out, stderr) = run(settings, args, &[]);
        assert!(code == 0 || stderr.contains("is in use by"), "{out}{stderr}");
        copied = out;
        code == 0
    });
    copied
}

/// Moves the files of the embedded store out of its data folder.
fn move_store_away(data: &Path, to: &Path) {
    std::fs::create_dir(to).expect("a folder");
    for file in std::fs::read_dir(data).expect("the folder").flatten() {
        let name = file.file_name().to_string_lossy().into_owned();
        if ["hermod.db", "hermod.mark", "journal-"].iter().any(|start| name.starts_with(start)) {
            std::fs::rename(file.path(), to.join(name)).expect("our own file");
        }
    }
}

#[test]
fn killed_copy_of_a_store_continues_and_the_gateway_uses_it() {
    let mut fixture = OperatorFixture::without_gateway();
    let Some(server) = server_of(&fixture) else { return };
    fixture.apply(&[]);
    fixture.run_ok(&["topup", "shop", "7"]);
    let database = rusqlite::Connection::open(fixture.data().join("hermod.db")).expect("the store");
    database.execute_batch(MANY_ROWS).expect("rows");
    drop(database);
    let to = settings(&fixture, "postgresql.toml", &format!("folder = \"data\"\nstore = \"{server}\""));

    assert_fails(&to, &["account", "list"], "copy it with hermod copy-store");
    let (slow, has_stopped) = through_stalling_proxy(&server, Side::Client);
    kill_in_second_step(&["copy-store", "--data-dir", path(&fixture.data()), "--to", &slow], &has_stopped);

    assert_fails(&to, &["account", "list"], "unfinished copy");
    assert_fails(&to, &["audit"], "unfinished copy");
    let copied = copy_after_a_kill(&to, &["copy-store"]);
    assert!(copied.contains("Continued a copy that had 100"), "{copied}");
    assert!(copied.contains("equal (messages: 0, accounts: 1): no violations."), "{copied}");
    assert_fails(&to, &["copy-store"], "has a complete copy of this store already");

    assert!(run_ok(&to, &["audit"]).contains("No violations."));
    fixture.serving = Some(Process::start(&["serve", "--config", path(&to)]));
    wait_until_serving(&fixture.address);
    wait_until("operator.url exists", || fixture.data().join("operator.url").exists());
    assert!(run_ok(&to, &["account", "list"]).contains("107"));
    assert!(run_ok(&to, &["migrate", "--contract"]).starts_with("Nothing to do"), "no gateway is older");
}

#[test]
fn killed_copy_back_to_the_data_folder_continues_and_the_gateway_uses_it() {
    let mut fixture = OperatorFixture::without_gateway();
    let Some(server) = server_of(&fixture) else { return };
    fixture.apply(&[]);
    let database = rusqlite::Connection::open(fixture.data().join("hermod.db")).expect("the store");
    database.execute_batch(MANY_ROWS).expect("rows");
    drop(database);
    let on_server =
        settings(&fixture, "postgresql.toml", &format!("folder = \"data\"\nstore = \"{server}\""));
    let embedded = settings(&fixture, "embedded.toml", "folder = \"data\"");
    run_ok(&on_server, &["copy-store"]);
    let mut serving = Process::start(&["serve", "--config", path(&on_server)]);
    wait_until_serving(&fixture.address);
    wait_until("operator.url exists", || fixture.data().join("operator.url").exists());
    run_ok(&on_server, &["topup", "shop", "7"]);
    let back = ["copy-store", "--to", "embedded"];
    assert_fails(&on_server, &back, "is in use by another hermod process");
    serving.signal("-TERM");
    serving.child.wait().expect("it ends");
    assert_fails(&on_server, &back, "has hermod.db of another embedded store");
    move_store_away(&fixture.data(), &fixture.file("away"));

    let (slow, has_stopped) = through_stalling_proxy(&server, Side::Server);
    kill_in_second_step(&["copy-store", "--data-dir", path(&fixture.data()), "--from", &slow], &has_stopped);
    assert_fails(&embedded, &["account", "list"], "unfinished copy");
    assert_fails(&embedded, &["audit"], "unfinished copy");
    let copied = copy_after_a_kill(&on_server, &back);
    assert!(copied.contains("Continued a copy that had 100"), "{copied}");
    assert!(copied.contains("equal (messages: 0, accounts: 1): no violations."), "{copied}");
    assert_fails(&on_server, &back, "has a complete copy of this store already");

    fixture.serving = Some(Process::start(&["serve", "--config", path(&embedded)]));
    wait_until_serving(&fixture.address);
    wait_until("operator.url exists", || fixture.data().join("operator.url").exists());
    assert!(run_ok(&embedded, &["account", "list"]).contains("107"));
    assert!(run_ok(&embedded, &["audit"]).contains("No violations."));
}

#[test]
fn copy_without_one_server_and_one_data_folder_is_a_usage_error() {
    let fixture = OperatorFixture::without_gateway();
    let embedded = settings(&fixture, "embedded.toml", "folder = \"data\"");
    let address = "postgres://hermod@db.example/sms?sslmode=disable";
    for (options, sentence) in [
        (&[][..], "no server to copy to: give its address with --to"),
        (&["--to", "elsewhere"], "no server to copy to: give its address with --to"),
        (&["--to", "embedded"], "no server to copy from: give its address with --from"),
        (&["--from", "embedded"], "no server to copy from: give its address with --from"),
        (&["--from", address, "--to", address], "give --to ADDRESS or --from ADDRESS, not both"),
    ] {
        let (code, _, stderr) = run(&embedded, &[&["copy-store"], options].concat(), &[]);
        assert!(code == 2 && stderr.contains(sentence), "{options:?}: {code} {stderr}");
    }
    let (code, _, stderr) = run(&embedded, &["copy-store", "--from", address], &[]);
    assert!(code == 1 && stderr.contains("copy it from a node that works with this store"), "{stderr}");
}

#[test]
fn gateway_with_another_pepper_does_not_start_on_the_store() {
    let fixture = OperatorFixture::without_gateway();
    let Some(server) = server_of(&fixture) else { return };
    let node = |name: &str, more: &str| {
        let data = format!("folder = \"{name}\"\nstore = \"{server}\"\n{more}");
        settings(&fixture, &format!("{name}.toml"), &data)
    };
    let first = node("first", "");
    let file = fixture.file("provision.toml");
    let (code, _, stderr) = run(&first, &["apply", path(&file), "--dry-run"], &[]);
    assert_eq!(code, 0, "a dry run does not claim the store: {stderr}");
    run_ok(&first, &["apply", path(&file), "--create"]);

    std::fs::create_dir(fixture.file("second")).expect("a folder");
    assert_fails(&node("second", ""), &["account", "list"], "copy it from a node that works with this store");
    std::fs::write(fixture.file("other.key"), [7; 32]).expect("a file");
    let other = node("second", "pepper_file = \"other.key\"");
    assert_fails(&other, &["account", "list"], "is not the pepper of this store");
    let (code, _, stderr) = run(&node("second", ""), &["account", "list"], &SECRETS);
    assert!(code == 1 && stderr.contains("HERMOD_PEPPER is not the pepper of this store"), "{stderr}");
    assert!(!fixture.file("second/pepper.key").exists(), "none was generated");

    let same = node("second", "pepper_file = \"first/pepper.key\"");
    assert!(run_ok(&same, &["account", "list"]).contains("shop"));
}

#[test]
fn migrate_shows_and_applies_what_is_pending() {
    let fixture = OperatorFixture::without_gateway();
    let embedded = settings(&fixture, "embedded.toml", "folder = \"data\"");
    assert!(run_ok(&embedded, &["migrate"]).contains("the gateway migrates it at its start"));
    let Some(server) = server_of(&fixture) else { return };
    let settings = settings(&fixture, "postgresql.toml", &format!("folder = \"data\"\nstore = \"{server}\""));
    let pending = "1  expand    create the tables\n";
    assert!(run_ok(&settings, &["migrate", "--status"]).contains(pending));
    assert!(run_ok(&settings, &["migrate", "--dry-run"]).contains(pending));
    assert!(run_ok(&settings, &["migrate", "--status"]).contains("0 (no tables yet)"), "nothing was changed");
    assert!(run_ok(&settings, &["migrate"]).contains("has version "));
    assert!(run_ok(&settings, &["migrate", "--status"]).ends_with("Nothing to migrate.\n"));
    assert!(run_ok(&settings, &["migrate"]).starts_with("Nothing to do"));
}

#[test]
fn secrets_of_the_environment_are_used_instead_of_files_in_the_data_folder() {
    let fixture = OperatorFixture::without_gateway();
    let settings = settings(&fixture, "hermod.toml", "folder = \"data\"");
    let run_ok = |args: &[&str]| {
        let (code, out, stderr) = run(&settings, args, &SECRETS);
        assert_eq!(code, 0, "{args:?}: {out}{stderr}");
        out
    };
    run_ok(&["apply", path(&fixture.file("provision.toml")), "--create"]);
    for file in ["pepper.key", "operator.token"] {
        assert!(!fixture.data().join(file).exists(), "{file} was generated");
    }
    let backup = run_ok(&["backup", path(&fixture.file("copy"))]);
    assert!(backup.contains("The pepper is not in the copy"), "{backup}");

    let mut serve = hermod(&["serve", "--config", path(&settings)]);
    let mut child = serve.envs(SECRETS).spawn().expect("the binary starts");
    wait_until_serving(&fixture.address);
    wait_until("operator.url exists", || fixture.data().join("operator.url").exists());
    assert!(run_ok(&["account", "list"]).contains("shop"), "by the token of the variable");
    let (code, _, stderr) = run(&settings, &["account", "list"], &SECRETS[..1]);
    assert!(code != 0 && stderr.contains("operator.token"), "{stderr}");
    child.kill().expect("it runs");
    child.wait().expect("it ends");

    let (code, _, stderr) = run(&settings, &["account", "list"], &[("HERMOD_PEPPER", "abc")]);
    assert!(code == 1 && stderr.contains("HERMOD_PEPPER is not a pepper"), "{stderr}");
    let (code, _, stderr) = run(&settings, &["account", "list"], &[]);
    assert!(code == 1 && stderr.contains("pepper.key is missing"), "{stderr}");
}
