//! `hermod backup`: a copy of a data folder that is one in its own right, taken while the gateway works.

use crate::copying::copy_by_gateway;
use crate::ending::{Ended, Failure};
use crate::operator::place::Place;
use crate::{runtime, show};
use clap::Args;
use hermod_gateway::running;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// What a data folder is made of beside the database: keys and credentials. Without the first, no stored secret works.
const PEPPER: &str = "pepper.key";
const KEY_FILES: [&str; 3] = [PEPPER, "operator.token", "demo-credentials.json"];
const DATABASE: &str = "hermod.db";

const EXAMPLES: &str = "\
Examples:
  hermod backup backups/monday
  hermod backup --config /etc/hermod/hermod.toml backups/monday

  Is the copy good?
    hermod audit --data-dir backups/monday

  Restore: stop the gateway, move the old folder away, put the copy in its place, start again:
    mv hermod-data hermod-data.old && cp -r backups/monday hermod-data

  Keep the keys apart from the data:
    hermod backup --data-dir hermod-data --without-keys backups/tuesday
    install -m 600 hermod-data/pepper.key /safe/place/pepper.key

  Restore such a copy: put the key back before the gateway starts. operator.token is made anew:
    cp -r backups/tuesday hermod-data && install -m 600 /safe/place/pepper.key hermod-data/

The copy is one moment's state of everything, the key that API secrets are checked with included: keep it as safe as
the original. A gateway that runs makes the copy itself and goes on working meanwhile: the folder DEST must be on its
machine, where its user may write, on a local disk. This command needs to read the data folder.";

/// Copy a data folder while it is in use
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Backup {
    /// The folder to make; it must not exist yet
    #[arg(value_name = "DEST")]
    destination: PathBuf,
    /// Leave out pepper.key, operator.token and the demo's credentials. Whoever gets hold of such a copy can neither use nor
    /// guess the secrets and passwords in it; to serve from it, pepper.key must be put back
    #[arg(long)]
    without_keys: bool,
    #[command(flatten)]
    place: Place,
}

impl Backup {
    pub(crate) fn run(self) -> Ended {
        runtime::block_on(self.copy_under_another_name())
    }

    /// Half a backup must not look like one.
    async fn copy_under_another_name(self) -> Ended {
        let Backup { destination, without_keys, place } = self;
        let data_dir = place.folder()?;
        if destination.exists() {
            return Err(Failure::mend(format!(
                "{} is there already; name a new folder",
                destination.display()
            )));
        }
        let mut draft = destination.clone().into_os_string();
        draft.push(".partial");
        let draft = PathBuf::from(draft);
        let keys = if without_keys { &[][..] } else { &KEY_FILES };
        let copied = copy(&place, &data_dir, &draft, keys).await.and_then(|bytes| {
            std::fs::rename(&draft, &destination).map_err(|error| about(&destination, &error))?;
            sync_parent(&destination)?;
            Ok(bytes)
        });
        let bytes = copied.inspect_err(|_| {
            // What cannot be removed stays under a name that says what it is.
            let _ = std::fs::remove_dir_all(&draft);
        })?;
        let (from, to) = (data_dir.display(), destination.display());
        show::say(&format!(
            "Copied {from} to {to} ({}).\nTo restore it: stop the gateway, then  mv {from} {from}.old && cp -r {to} {from}\n{}",
            in_words(bytes),
            if without_keys {
                "The keys are not in the copy: keep pepper.key safe elsewhere, and put it back before you start.\n"
            } else {
                ""
            }
        ))
    }
}

async fn copy(place: &Place, from: &Path, draft: &Path, keys: &[&str]) -> Result<u64, Failure> {
    if !from.join(DATABASE).exists() {
        return Err(Failure::mend(format!("{} is no data folder of Hermod", from.display())));
    }
    if keys.contains(&PEPPER) && !from.join(PEPPER).exists() {
        return Err(Failure::mend(format!(
            "{} has no {PEPPER}, and a copy without it cannot be served from: put it back, or say --without-keys",
            from.display()
        )));
    }
    if draft.exists() {
        // Left over by a backup that was killed.
        std::fs::remove_dir_all(draft).map_err(|error| about(draft, &error))?;
    }
    if let Some(parent) = draft.parent() {
        std::fs::create_dir_all(parent).map_err(|error| about(parent, &error))?;
    }
    let mut bytes = match place.running().await? {
        Some(gateway) => copy_by_gateway(&gateway, draft).await?,
        None => {
            std::fs::DirBuilder::new().mode(0o700).create(draft).map_err(|error| about(draft, &error))?;
            running::Store::backup(from, &draft.join(DATABASE)).map_err(Failure::failed)?;
            size_of(&draft.join(DATABASE))?
        }
    };
    for name in keys.iter().filter(|name| from.join(name).exists()) {
        let copied = draft.join(name);
        let done = std::fs::copy(from.join(name), &copied).and_then(|_| {
            std::fs::set_permissions(&copied, std::fs::Permissions::from_mode(0o600))?;
            std::fs::File::open(&copied)?.sync_all()
        });
        done.map_err(|error| about(&copied, &error))?;
        bytes += size_of(&copied)?;
    }
    std::fs::File::open(draft).and_then(|folder| folder.sync_all()).map_err(|error| about(draft, &error))?;
    Ok(bytes)
}

fn sync_parent(path: &Path) -> Ended {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::File::open(parent).and_then(|folder| folder.sync_all()).map_err(|error| about(parent, &error))
}

fn size_of(path: &Path) -> Result<u64, Failure> {
    std::fs::metadata(path).map(|metadata| metadata.len()).map_err(|error| about(path, &error))
}

fn about(path: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(format!("{}: {error}", path.display()))
}

fn in_words(bytes: u64) -> String {
    match bytes {
        0..10_240 => format!("{bytes} bytes"),
        10_240..10_485_760 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}
