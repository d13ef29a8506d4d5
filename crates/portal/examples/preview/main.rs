//! Writes every page with sample data to a folder, to look at them in a browser: `cargo run --example preview -- FOLDER`.

#[path = "../../tests/samples/mod.rs"]
mod samples;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        return ExitCode::FAILURE;
    };
    match write_all(&folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn write_all(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder.join("assets"))?;
    for asset in [hermod_portal::assets::style(), hermod_portal::assets::script()] {
        std::fs::write(folder.join(asset.path.trim_start_matches('/')), asset.bytes)?;
    }
    for (name, html) in samples::all() {
        std::fs::write(folder.join(format!("{name}.html")), html)?;
    }
    Ok(())
}
