//! Unit tests of `process.rs`.

use super::*;

#[test]
fn stat_has_the_parent_and_the_cpu_time() {
    let stat = "12 (a (b) c) S 7 2 3 4 5 6 7 8 9 10 250 50 10 20 20 0";
    assert_eq!((parent(stat), cpu_in(stat, 2), cpu_in(stat, 4)), (Some(7), 3e6, 3.3e6));
    assert_eq!((parent(""), cpu_in("", 2)), (None, 0.0));
}

#[test]
fn only_threads_of_one_kind_are_summed() {
    let tasks = tempfile::tempdir().expect("a folder");
    for name in ["hermod", "hermod-writer", "hermod-checkpoi", "hermod-apply-1", "hermod-record"] {
        std::fs::create_dir(tasks.path().join(name)).expect("a folder");
        let stat = format!("1 ({name}) S 1 2 3 4 5 6 7 8 9 10 100 100 0 0");
        std::fs::write(tasks.path().join(name).join("stat"), stat).expect("a file");
    }
    assert_eq!(cpu_of(&STORE_THREADS, tasks.path()), 6e6);
    assert_eq!(cpu_of(&RECORD_THREADS, tasks.path()), 2e6);
    assert_eq!(cpu_of(&STORE_THREADS, &tasks.path().join("none")), 0.0);
}
