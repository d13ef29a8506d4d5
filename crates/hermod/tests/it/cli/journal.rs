//! `hermod journal salvage`: what it says and does about a journal that is intact, and one with a file that cannot be read.

use super::process::{Caller, path, run, start_demo};

#[test]
fn journal_with_a_file_that_cannot_be_read_is_salvaged_although_no_batch_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let data = path(folder.path());
    let (demo, ready) = start_demo(folder.path());
    let customer = Caller::of(&ready);
    let message = customer.send("Hello");
    customer.wait_for_status(&message, "delivered");
    assert_eq!(demo.terminate(), 0);
    let salvage = ["journal", "salvage", "--data-dir", data];
    let (code, out, _) = run(&salvage);
    assert_eq!((code, out.contains("Nothing was done: start the gateway.")), (0, true), "{out}");

    // Where a segment with newer batches would be.
    std::fs::create_dir(folder.path().join("journal-00099999.log")).unwrap();
    let (code, _, stderr) = run(&["demo", "--data-dir", data, "--http-port", "0"]);
    assert_eq!(code, 1, "{stderr}");
    let refused = "journal-00099999.log cannot be read at byte 0";
    assert!(stderr.contains(refused) && stderr.contains("hermod journal salvage --data-dir"), "{stderr}");
    let (code, out, _) = run(&[&salvage[..], &["--dry-run"]].concat());
    assert_eq!(
        (code, out.contains(refused) && out.contains("Nothing was changed (--dry-run)")),
        (0, true),
        "{out}"
    );
    let (code, out, _) = run(&salvage);
    assert_eq!((code, out.contains("0 acknowledged batches after it are lost")), (0, true), "{out}");
    assert!(out.contains("The files of the journal are in") && !out.contains("Nothing was done"), "{out}");

    assert_eq!(run(&["audit", "--data-dir", data]).0, 0);
    let (demo, ready) = start_demo(folder.path());
    Caller::of(&ready).wait_for_status(&message, "delivered");
    assert_eq!(demo.terminate(), 0);
}

#[test]
fn salvage_of_a_store_on_postgresql_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("hermod.toml");
    std::fs::write(&settings, "[data]\nfolder = \"data\"\nstore = \"postgres://hermod@localhost/sms\"\n")
        .unwrap();
    let (code, _, stderr) = run(&["journal", "salvage", "--config", path(&settings)]);
    assert_eq!((code, stderr.contains("PostgreSQL, which has no journal of Hermod")), (2, true), "{stderr}");
}
