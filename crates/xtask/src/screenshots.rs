//! `cargo xtask screenshots`: pictures of every page of the demo, wide and on a phone, light and dark.

use std::path::PathBuf;

use clap::Args;

use crate::shell::{self, Failure, Outcome};

#[derive(Args)]
pub(crate) struct Options {
    /// Folder for the pictures, created if it does not exist
    #[arg(long, value_name = "DIR", default_value = "target/screenshots")]
    folder: PathBuf,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let folder = shell::root().join(&options.folder);
    std::fs::create_dir_all(&folder)
        .map_err(|cause| Failure(format!("cannot make {}: {cause}", folder.display())))?;
    // The tests that check the same pages take the pictures.
    let mut tests =
        shell::command("cargo", &["test", "--workspace", "--test", "it", "--", "browser::demo::"]);
    tests.env("HERMOD_SCREENSHOTS", &folder);
    shell::run(tests)?;
    println!("the pictures are in {}", folder.display());
    Ok(())
}
