//! Provision files over restarts, and the data folder that a command uses.

use super::operator_fixture::{FILE, OperatorFixture};
use super::process::{hermod, output_of, path, run, wait_until_serving};
use serde_json::json;
use std::io::Write;
use std::process::{Child, Stdio};

/// Starts a gateway that applies the fixture's file and logs to a file.
fn serve(fixture: &OperatorFixture, log: &str) -> Child {
    let settings = fixture.file("hermod.toml");
    let text = format!(
        "[data]\nfolder = \"data\"\n[smpp]\nlisten = \"127.0.0.1:0\"\n[http]\nlisten = \"{}\"\n\
         [provision]\nfile = \"provision.toml\"\n",
        fixture.address
    );
    std::fs::write(&settings, text).expect("a settings file");
    let log = std::fs::File::create(fixture.file(log)).expect("a log");
    let mut command = hermod(&["serve", "--config", path(&settings)]);
    let serving = command.stdout(Stdio::from(log.try_clone().expect("a log"))).stderr(log).spawn();
    wait_until_serving(&fixture.address);
    crate::real_time::wait_until("operator.url exists", || fixture.data().join("operator.url").exists());
    serving.expect("the binary starts")
}

fn stop(mut serving: Child) {
    serving.kill().expect("it runs");
    serving.wait().expect("it ends");
}

#[test]
fn changes_by_command_survive_a_restart_with_a_provision_file() {
    let fixture = OperatorFixture::without_gateway();
    std::fs::write(fixture.file("provision.toml"), FILE.replace("verified = true", "verified = false"))
        .unwrap();
    let serving = serve(&fixture, "first.log");
    fixture.run_ok(&["account", "verify", "shop"]);
    fixture.run_ok(&["account", "set", "shop", "credit_limit=7"]);
    fixture.run_ok(&["price", "remove", "*"]);
    stop(serving);

    let serving = serve(&fixture, "second.log");
    let shop = || fixture.json(&["account", "show", "shop"]);
    assert_eq!(shop()["account"]["entry"]["verified"], json!(true), "the change by command is kept");
    assert_eq!(shop()["account"]["entry"]["credit_limit"], json!("7"), "a field that the file omits is kept");
    assert_eq!(fixture.json(&["price", "list"])["items"], json!([]), "a removed entry stays removed");
    let log = std::fs::read_to_string(fixture.file("second.log")).unwrap();
    assert!(log.contains("Not applied") && log.contains("verified") && log.contains("--force"), "{log}");
    let planned = fixture.apply(&["--dry-run"]);
    assert!(
        planned.contains("! account shop\n    verified stays true, changed since; the file has false\n"),
        "{planned}"
    );
    assert!(planned.contains("! price * not applied: removed or created again since\n"), "{planned}");
    let forced = fixture.apply(&["--force"]);
    assert!(forced.contains("~ account shop\n    verified: true -> false\n"), "{forced}");
    assert!(forced.contains("+ price *\n"), "{forced}");
    stop(serving);

    let changed = FILE.replace("countries = [\"DE\"]", "countries = [\"DE\", \"AT\"]");
    std::fs::write(fixture.file("provision.toml"), changed).unwrap();
    let serving = serve(&fixture, "third.log");
    assert_eq!(
        shop()["account"]["entry"]["countries"],
        json!(["AT", "DE"]),
        "changes of the file are applied"
    );
    assert_eq!(shop()["account"]["entry"]["verified"], json!(true), "this, too");
    stop(serving);
}

#[test]
fn data_folder_is_created_only_with_create() {
    let fixture = OperatorFixture::without_gateway();
    let file = fixture.file("provision.toml");
    fixture.assert_fails(&["apply", path(&file)], 2, "hermod apply FILE --create");
    assert!(!fixture.data().exists());
    let (code, _, stderr) = fixture.run(&["apply", path(&file), "--create"]);
    let folder = fixture.data();
    assert_eq!(
        (code, stderr),
        (0, format!("hermod: data folder {} (no gateway runs there)\n", folder.display()))
    );
    let (code, _, stderr) = fixture.run(&["account", "list"]);
    assert_eq!((code, stderr.as_str()), (0, ""), "a reading command prints nothing on standard error");
    for command in ["audit", "backup"] {
        let copy = fixture.file("copy");
        let nowhere = fixture.file("nowhere");
        let args = [
            &[command, "--data-dir", path(&nowhere)][..],
            &[path(&copy)][..usize::from(command == "backup")],
        ];
        let (code, _, stderr) = run(&args.concat());
        assert_eq!(
            (code, stderr.contains("is not a data folder of Hermod")),
            (2, true),
            "{command}: {stderr}"
        );
    }
}

#[test]
fn commands_use_the_data_folder_and_webhook_rules_of_the_settings() {
    let fixture = OperatorFixture::without_gateway();
    let settings = fixture.file("hermod.toml");
    let text = "[data]\nfolder = \"elsewhere\"\n[webhooks]\nallow_http = true\nallow = [\"127.0.0.0/8\"]\n";
    std::fs::write(&settings, text).unwrap();
    let with = |args: &[&str]| run(&[args, &["--config", path(&settings)]].concat());
    let mut applying = hermod(&["apply", "-", "--create", "--config", path(&settings)])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    applying.stdin.take().unwrap().write_all(FILE.as_bytes()).unwrap();
    let applied = applying.wait_with_output().unwrap();
    assert!(applied.status.success(), "{}", String::from_utf8_lossy(&applied.stderr));
    assert!(String::from_utf8_lossy(&applied.stderr).contains("elsewhere (no gateway runs there)"));
    assert!(fixture.file("elsewhere/hermod.db").exists() && !fixture.data().exists());

    let hook = ["account", "set", "shop", "dlr_webhook=http://127.0.0.1:8099/dlr"];
    let (code, _, stderr) = with(&hook);
    assert_eq!(code, 0, "the settings apply without a running gateway too: {stderr}");
    let folder = fixture.file("elsewhere");
    let other = ["dlr_webhook=http://127.0.0.1:8099/other", "--data-dir", path(&folder)];
    let (code, _, stderr) = run(&[&hook[..3], &other].concat());
    assert_eq!((code, stderr.contains("plain http is not allowed")), (1, true), "{stderr}");
    let (code, _, stderr) = with(&["account", "list", "--data-dir", path(&fixture.data())]);
    assert_eq!((code, stderr.contains("omit one of them")), (2, true), "{stderr}");

    // Without options: the settings file of the working directory.
    for args in [&["account", "list"][..], &["audit"], &["backup", "copy"]] {
        let (code, out, stderr) = output_of(hermod(args).current_dir(fixture.folder.path()));
        assert_eq!(code, 0, "{args:?}: {out}{stderr}");
    }
    assert!(fixture.file("copy/hermod.db").exists());
    let bad = hermod(&["apply", "-", "--config", path(&settings)]).stdin(Stdio::piped()).spawn();
    let mut bad = bad.unwrap();
    bad.stdin.take().unwrap().write_all(b"[[acount]]\n").unwrap();
    let refused = bad.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(
        (refused.status.code(), stderr.contains("standard input:1: acount")),
        (Some(2), true),
        "{stderr}"
    );
}
