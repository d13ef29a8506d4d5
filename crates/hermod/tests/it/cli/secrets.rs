//! Secrets at the command line: printed once on request, and nowhere else.

use super::operator_fixture::{FILE, OperatorFixture};
use super::process::{Caller, hermod, output_of, path, wait_until_serving};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

/// Returns the secret of a key in a command's output.
#[track_caller]
fn secret_of(out: &str, key: &str) -> String {
    let line = out.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix("  "));
    line.unwrap_or_else(|| panic!("no secret of {key} in {out}")).trim().to_owned()
}

fn customer(fixture: &OperatorFixture, key: &str, secret: &str) -> Caller {
    Caller { address: fixture.address.clone(), key: key.to_owned(), secret: secret.to_owned() }
}

#[test]
fn generated_secret_is_shown_once_authenticates_and_can_be_rotated() {
    let fixture = OperatorFixture::with_gateway();
    let first = secret_of(&fixture.apply(&[]), "shop-key-1");
    assert_eq!(customer(&fixture, "shop-key-1", &first).balance(), "100");
    let created = fixture.run_ok(&["key", "create", "--connection", "shop-http", "expires_at=2099-01-01"]);
    let key = created.lines().next().unwrap().strip_prefix("+ key ").unwrap().to_owned();
    assert!(key.starts_with("shop-http-"), "{created}");
    let second = secret_of(&created, &key);
    assert_eq!(customer(&fixture, &key, &second).balance(), "100");

    let rotated = secret_of(&fixture.run_ok(&["key", "rotate", "shop-key-1"]), "shop-key-1");
    assert_ne!(rotated, first);
    assert_eq!(customer(&fixture, "shop-key-1", &rotated).balance(), "100");
    assert_eq!(customer(&fixture, "shop-key-1", &first).call("GET", "/balance", "").0, 401);
    assert_eq!(
        fixture.run_ok(&["key", "revoke", &key]),
        format!("~ key {key}\n    revoked: false -> true\n")
    );
    assert_eq!(customer(&fixture, &key, &second).call("GET", "/balance", "").0, 401);
    fixture.assert_fails(&["key", "add", "shop-key-1", "connection=shop-http"], 1, "already");

    for args in [
        &["key", "list"][..],
        &["key", "list", "--json"],
        &["carrier", "list", "--json"],
        &["apply", path(&fixture.file("provision.toml"))],
        &["apply", path(&fixture.file("provision.toml")), "--json", "--dry-run"],
    ] {
        let out = fixture.run_ok(args);
        for secret in [&first, &second, &rotated, "canary08"] {
            assert!(!out.contains(secret), "{args:?}: {out}");
        }
    }
}

#[test]
fn secrets_to_writes_a_private_file() {
    let fixture = OperatorFixture::without_gateway();
    let (to, other) = (fixture.file("secrets.toml"), fixture.file("other.toml"));
    let out = fixture.apply(&["--secrets-to", path(&to)]);
    assert!(out.contains("The new secret is in"), "{out}");
    assert_eq!(std::fs::metadata(&to).unwrap().permissions().mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(&to).unwrap();
    let secret = text.split("secret = \"").nth(1).unwrap().split('"').next().unwrap();
    assert!(secret.len() >= 32 && !out.contains(secret), "{out}");

    // No file is overwritten, and no file is created without a secret.
    fixture.assert_fails(&["key", "rotate", "shop-key-1", "--secrets-to", path(&to)], 2, "already exists");
    fixture.apply(&["--secrets-to", path(&other)]);
    fixture.assert_fails(&["key", "rotate", "nobody", "--secrets-to", path(&other)], 1, "NOT_FOUND");
    assert!(!other.exists());
    let rotated = fixture.json(&["key", "rotate", "shop-key-1", "--secrets-to", path(&other)]);
    assert_eq!(rotated["secrets"][0]["secret"], "(in the file)");
    assert!(other.exists());
}

#[test]
fn failed_write_to_standard_output_is_reported() {
    let fixture = OperatorFixture::without_gateway();
    fixture.apply(&[]);
    let target: Vec<&str> = fixture.target.iter().map(String::as_str).collect();
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let closed = || std::io::pipe().unwrap().1;
    let rotate = [&["key", "rotate", "shop-key-1"], target.as_slice()].concat();
    let list = [&["account", "list"], target.as_slice()].concat();
    let data = fixture.data();
    let audit = ["audit", "--data-dir", path(&data)];
    for (args, stdout, code, sentence) in [
        (
            &rotate[..],
            Stdio::from(full()),
            1,
            "hermod key rotate KEY or hermod webhook secret stage ACCOUNT makes another secret",
        ),
        (
            &rotate,
            Stdio::from(closed()),
            1,
            "hermod key rotate KEY or hermod webhook secret stage ACCOUNT makes another secret",
        ),
        (&list, Stdio::from(full()), 1, "No space left"),
        (&list, Stdio::from(closed()), 0, ""),
        (&audit, Stdio::from(full()), 1, "No space left"),
        (&["config", "default"], Stdio::from(full()), 1, "No space left"),
        (&["config", "provision"], Stdio::from(closed()), 0, ""),
        (&["version"], Stdio::from(closed()), 0, ""),
    ] {
        let (exit_code, _, stderr) = output_of(hermod(args).stdout(stdout));
        assert_eq!(
            (exit_code, stderr.contains(sentence), stderr.is_empty()),
            (code, true, code == 0),
            "{args:?}: {stderr}"
        );
        assert!(!stderr.contains("panicked"), "{args:?}: {stderr}");
    }
}

#[test]
fn secret_generated_at_start_is_not_logged() {
    let fixture = OperatorFixture::without_gateway();
    let settings = fixture.file("hermod.toml");
    let text = format!(
        "[data]\nfolder = \"data\"\n[smpp]\nlisten = \"127.0.0.1:0\"\n[http]\nlisten = \"{}\"\n[log]\nlevel = \"trace\"\n[provision]\nfile = \"provision.toml\"\n",
        fixture.address
    );
    std::fs::write(&settings, text).unwrap();
    let log = std::fs::File::create(fixture.file("log")).unwrap();
    let mut command = hermod(&["serve", "--config", path(&settings)]);
    let mut serving = command.stdout(Stdio::from(log.try_clone().unwrap())).stderr(log).spawn().unwrap();
    wait_until_serving(&fixture.address);
    crate::real_time::wait_until("operator.url exists", || fixture.data().join("operator.url").exists());
    let token = std::fs::read_to_string(fixture.data().join("operator.token")).unwrap();
    let rotated = secret_of(&fixture.run_ok(&["key", "rotate", "shop-key-1"]), "shop-key-1");
    assert_eq!(customer(&fixture, "shop-key-1", &rotated).balance(), "100");
    serving.kill().unwrap();
    serving.wait().unwrap();
    let logged = std::fs::read_to_string(fixture.file("log")).unwrap();
    assert!(
        logged.contains("A secret was generated and not printed: hermod key rotate shop-key-1"),
        "{logged}"
    );
    for secret in [rotated.as_str(), token.trim(), "canary08"] {
        assert!(!logged.contains(secret), "{secret} is in the log");
    }
    assert!(FILE.contains("canary08"));
}

#[test]
fn missing_or_empty_pepper_is_reported_by_every_command_and_never_replaced() {
    let fixture = OperatorFixture::without_gateway();
    fixture.apply(&[]);
    let (pepper, away) = (fixture.data().join("pepper.key"), fixture.file("pepper.away"));
    let kept = std::fs::read(&pepper).unwrap();
    assert_eq!(kept.len(), 32);
    std::fs::rename(&pepper, &away).unwrap();
    for args in [&["account", "list"][..], &["apply", path(&fixture.file("provision.toml"))]] {
        fixture.assert_fails(args, 1, "pepper.key is missing");
        fixture.assert_fails(args, 1, "from a backup of this folder");
        assert!(!pepper.exists(), "{args:?} made another");
    }
    let settings = fixture.file("hermod.toml");
    std::fs::write(
        &settings,
        "[data]\nfolder = \"data\"\n[smpp]\nlisten = \"127.0.0.1:0\"\n[http]\nlisten = \"127.0.0.1:0\"\n",
    )
    .unwrap();
    let (code, _, stderr) = output_of(&mut hermod(&["serve", "--config", path(&settings)]));
    assert_eq!((code, stderr.contains("pepper.key is missing")), (1, true), "{stderr}");
    std::fs::write(&pepper, []).unwrap();
    fixture.assert_fails(&["account", "list"], 1, "has 0 octets instead of 32");
    assert_eq!(std::fs::read(&pepper).unwrap().len(), 0, "the empty pepper is kept");
    std::fs::rename(&away, &pepper).unwrap();
    fixture.run_ok(&["account", "list"]);
    assert_eq!(std::fs::read(&pepper).unwrap(), kept);
}

#[test]
fn pepper_of_another_store_is_refused_and_left_as_it_is() {
    let fixture = OperatorFixture::without_gateway();
    let provision = fixture.file("provision.toml");
    fixture.apply(&[]);
    let pepper = fixture.data().join("pepper.key");
    let kept = std::fs::read(&pepper).unwrap();
    std::fs::write(&pepper, [7; 32]).unwrap();
    for args in [&["account", "list"][..], &["apply", path(&provision)]] {
        fixture.assert_fails(args, 1, "pepper.key is not the pepper of this store");
        fixture.assert_fails(args, 1, "Copy the right pepper from a backup of the data folder");
    }
    let settings = fixture.file("hermod.toml");
    let text =
        "[data]\nfolder = \"data\"\n[smpp]\nlisten = \"127.0.0.1:0\"\n[http]\nlisten = \"127.0.0.1:0\"\n";
    std::fs::write(&settings, text).unwrap();
    let (code, _, stderr) = output_of(&mut hermod(&["serve", "--config", path(&settings)]));
    assert_eq!((code, stderr.contains("is not the pepper of this store")), (1, true), "{stderr}");
    let (code, out, _) = output_of(&mut hermod(&["audit", "--data-dir", path(&fixture.data())]));
    assert!(out.contains("Not checked:") && out.contains("is not the pepper of this store"), "{out}");
    assert_eq!(code, 3, "{out}");
    assert_eq!(std::fs::read(&pepper).unwrap(), [7; 32]);
    std::fs::write(&pepper, kept).unwrap();
    assert!(fixture.run_ok(&["account", "list"]).contains("shop"));
    fixture.apply(&[]);
}

#[test]
fn new_pepper_claims_the_store_once_the_fingerprint_of_the_lost_one_is_removed() {
    let fixture = OperatorFixture::without_gateway();
    fixture.apply(&[]);
    std::fs::write(fixture.data().join("pepper.key"), [7; 32]).unwrap();
    let database = rusqlite::Connection::open(fixture.data().join("hermod.db")).unwrap();
    assert_eq!(database.execute("DELETE FROM pepper_fingerprint", []).unwrap(), 1);
    drop(database);
    let (code, out, stderr) = fixture.run(&["account", "list"]);
    assert!(code == 0 && out.contains("shop"), "{out}{stderr}");
    std::fs::write(fixture.data().join("pepper.key"), [8; 32]).unwrap();
    fixture.assert_fails(&["account", "list"], 1, "is not the pepper of this store");
}

#[test]
fn backup_without_keys_serves_once_the_pepper_is_restored() {
    let fixture = OperatorFixture::without_gateway();
    fixture.apply(&[]);
    let copy = fixture.file("copy");
    let data = fixture.data();
    let backup =
        |args: &[&str]| output_of(&mut hermod(&[&["backup", "--data-dir", path(&data)], args].concat()));
    let (code, out, stderr) = backup(&["--without-keys", path(&copy)]);
    assert_eq!((code, out.contains("keep pepper.key safe elsewhere")), (0, true), "{out}{stderr}");
    let mut files: Vec<_> = std::fs::read_dir(&copy)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, ["hermod.audit", "hermod.db"]);
    let list = |folder| output_of(&mut hermod(&["account", "list", "--data-dir", path(folder)]));
    let (code, _, stderr) = list(&copy);
    assert_eq!((code, stderr.contains("pepper.key is missing")), (1, true), "{stderr}");
    std::fs::copy(data.join("pepper.key"), copy.join("pepper.key")).unwrap();
    let (code, out, stderr) = list(&copy);
    assert_eq!((code, out.contains("shop")), (0, true), "{out}{stderr}");

    std::fs::remove_file(data.join("pepper.key")).unwrap();
    let (code, _, stderr) = backup(&[path(&fixture.file("other"))]);
    assert_eq!(
        (code, stderr.contains("has no pepper.key")),
        (2, true),
        "a backup of a folder without pepper is rejected: {stderr}"
    );
}

#[test]
fn audit_without_the_pepper_says_what_it_left_out_and_does_not_succeed() {
    let fixture = OperatorFixture::without_gateway();
    fixture.apply(&[]);
    let (data, pepper) = (fixture.data(), fixture.data().join("pepper.key"));
    let audit =
        |args: &[&str]| output_of(&mut hermod(&[&["audit", "--data-dir", path(&data)], args].concat()));
    let (code, out, stderr) = audit(&[]);
    assert_eq!((code, out.contains("\nNo violations.")), (0, true), "{out}{stderr}");
    assert!(!out.contains("Note:"), "{out}");
    let (file, kept) = (data.join("hermod.audit"), fixture.file("kept"));
    std::fs::rename(&file, &kept).unwrap();
    let (code, out, _) = audit(&[]);
    assert_eq!((code, out.contains("Note: hermod.audit is missing")), (0, true), "{out}");
    let report: serde_json::Value = serde_json::from_str(&audit(&["--json"]).1).unwrap();
    assert_eq!(report["audit_log"]["file_missing"], true);
    std::fs::rename(&kept, &file).unwrap();
    std::fs::remove_file(&pepper).unwrap();
    let assert_incomplete = |why: &str| {
        let (code, out, stderr) = audit(&[]);
        assert!(out.contains("Not checked: the hashes of the audit log") && out.contains(why), "{out}");
        assert!(out.contains("The audit is incomplete.") && !out.contains("\nNo violations."), "{out}");
        assert_eq!((code, stderr.as_str()), (3, ""));
    };
    assert_incomplete("pepper.key is missing\n");
    std::fs::create_dir(&pepper).unwrap();
    assert_incomplete("pepper.key cannot be read");
    std::fs::remove_dir(&pepper).unwrap();
    std::fs::write(&pepper, []).unwrap();
    assert_incomplete("has 0 octets instead of 32");
    let (code, out, _) = audit(&["--json"]);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (code, &report["clean"], report["not_checked"].is_string()),
        (3, &false.into(), true),
        "{out}"
    );

    let database = rusqlite::Connection::open(data.join("hermod.db")).unwrap();
    database.execute("UPDATE audit_head SET number = number + 1", []).unwrap();
    drop(database);
    let (code, out, _) = audit(&[]);
    assert_eq!((code, out.contains("Not checked:"), out.contains("1 violations:")), (1, true, true), "{out}");
}

#[test]
fn files_of_a_backup_are_accessible_by_their_owner_only() {
    let fixture = OperatorFixture::without_gateway();
    fixture.apply(&[]);
    std::fs::write(fixture.data().join("hermod.erasures"), "").unwrap();
    let copy = fixture.file("copy");
    let (code, out, stderr) =
        output_of(&mut hermod(&["backup", "--data-dir", path(&fixture.data()), path(&copy)]));
    assert_eq!(code, 0, "{out}{stderr}");
    let mode = |file: &std::path::Path| std::fs::metadata(file).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&copy), 0o700);
    let mut files: Vec<_> = std::fs::read_dir(&copy)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, ["hermod.audit", "hermod.db", "hermod.erasures", "operator.token", "pepper.key"]);
    for file in files {
        assert_eq!(mode(&copy.join(&file)), 0o600, "{file}");
    }
}

#[test]
fn new_data_folder_is_accessible_by_its_owner_only() {
    let fixture = OperatorFixture::without_gateway();
    fixture.apply(&[]);
    let mode = |file: &std::path::Path| std::fs::metadata(file).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&fixture.data()), 0o700);
    for file in std::fs::read_dir(fixture.data()).unwrap() {
        let file = file.unwrap().path();
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    // A lock file that was copied may be readable by others.
    let lock = fixture.data().join("hermod.lock");
    std::fs::set_permissions(&lock, std::fs::Permissions::from_mode(0o644)).unwrap();
    fixture.run_ok(&["account", "list"]);
    assert_eq!(mode(&lock), 0o600);
}
