//! Unit tests of `lock.rs`.

use super::*;

#[test]
fn folder_in_use_names_the_process_that_uses_it() {
    let folder = tempfile::TempDir::new().unwrap();
    assert_eq!(holder(folder.path()).unwrap(), None);
    // The file of a process with a longer id and host name.
    std::fs::write(
        folder.path().join(FILE_NAME),
        "4000000000\na-host-with-a-name-longer-than-ours.example\n",
    )
    .unwrap();
    assert_eq!(holder(folder.path()).unwrap(), None, "it has ended");
    let lock = FolderLock::take(folder.path()).unwrap();
    let holder_now = holder(folder.path()).unwrap().expect("a process");
    assert_eq!(holder_now, FolderHolder::this_process());
    assert_eq!(holder_now.pid, std::process::id());
    FolderLock::take(folder.path()).map(drop).expect_err("it is in use");
    assert_eq!(
        holder(folder.path()).unwrap(),
        Some(holder_now),
        "the second process did not change the file"
    );
    drop(lock);
    assert_eq!(holder(folder.path()).unwrap(), None);
}

#[test]
fn lock_file_of_another_release_names_no_process() {
    for (text, expect) in [
        ("", None),
        ("x\nhost\n", None),
        ("7", Some(("process 7", None))),
        ("7\n\n", Some(("process 7", None))),
        ("7\nsms-1\n", Some(("process 7 on sms-1", Some("sms-1")))),
    ] {
        let parsed = FolderHolder::parse(text);
        let shown = parsed.as_ref().map(ToString::to_string);
        assert_eq!(shown.as_deref(), expect.map(|(shown, _)| shown), "{text:?}");
        assert_eq!(
            parsed.and_then(|holder| holder.host).as_deref(),
            expect.and_then(|(_, host)| host),
            "{text:?}"
        );
    }
}
