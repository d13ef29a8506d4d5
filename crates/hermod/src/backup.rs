//! `hermod backup`: copies a data folder while the gateway runs. The copy is a complete data folder.

use crate::failure::{CommandResult, Failure};
use crate::operator::operator_client::{OperatorClient, RequestBody};
use crate::operator::target::TargetArgs;
use crate::{output, runtime};
use clap::Args;
use hermod_gateway::clock::Clock;
use hermod_gateway::running;
use hermod_operator::maintenance::{BackupRequest, BackupView};
use hyper::Method;
use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The files of a data folder beside the database. Without the pepper, no stored secret can be used.
const PEPPER: &str = "pepper.key";
const KEY_FILES: [&str; 3] = [PEPPER, "operator.token", "demo-credentials.json"];
const DATABASE: &str = "hermod.db";
/// Enough for a very large database on a slow disk.
const COPY_TIMEOUT: Duration = Duration::from_secs(24 * 3_600);

const EXAMPLES: &str = "\
Examples:
  hermod backup backups/monday
  hermod backup --config /etc/hermod/hermod.toml backups/monday

  Check the copy:
    hermod audit --data-dir backups/monday

  Restore: stop the gateway, replace the data folder by the copy, start again. The gateway is held, and sends nothing:
    mv hermod-data hermod-data.old && cp -r backups/monday hermod-data
    hermod restore review
    hermod restore cancel --before-backup

  Never copy a backup over the files of a data folder: the gateway refuses a journal that does not continue the copy.

  Erase again what was erased since the backup was made, if numbers were erased:
    cp hermod-data.old/hermod.erasures hermod-data/

  Keep the keys separately:
    hermod backup --data-dir hermod-data --without-keys backups/tuesday
    install -m 600 hermod-data/pepper.key /safe/place/pepper.key

  Restore such a copy: put the key back before the gateway starts. A new operator.token is generated:
    cp -r backups/tuesday hermod-data && install -m 600 /safe/place/pepper.key hermod-data/

The copy is a consistent snapshot, including the key that API secrets are checked with: protect it like the original.
A running gateway makes the copy itself while it serves: DEST must be on its machine, on a local disk, and writable by
its user. This command needs read access to the data folder.";

/// Back up a data folder while it is in use
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BackupArgs {
    /// The folder to create; it must not exist
    #[arg(value_name = "DEST")]
    destination: PathBuf,
    /// Leave out pepper.key, operator.token and the demo's credentials. The secrets and passwords in such a copy can neither
    /// be used nor guessed; to serve from it, put pepper.key back
    #[arg(long)]
    without_keys: bool,
    #[command(flatten)]
    target: TargetArgs,
}

impl BackupArgs {
    pub(crate) fn run(self) -> CommandResult {
        runtime::block_on(self.copy_and_rename())
    }

    /// Copies under a temporary name: an incomplete backup must not look like a complete one.
    async fn copy_and_rename(self) -> CommandResult {
        let BackupArgs { destination, without_keys, target } = self;
        let data_dir = target.folder()?;
        if destination.exists() {
            return Err(Failure::usage(format!(
                "{} already exists; give a new folder",
                destination.display()
            )));
        }
        let mut draft = destination.clone().into_os_string();
        draft.push(".partial");
        let draft = PathBuf::from(draft);
        let keys = if without_keys { &[][..] } else { &KEY_FILES };
        let copied = copy(&target, &data_dir, &draft, keys).await.and_then(|bytes| {
            std::fs::rename(&draft, &destination).map_err(|error| about(&destination, &error))?;
            sync_parent(&destination)?;
            Ok(bytes)
        });
        let bytes = copied.inspect_err(|_| {
            // The name says that it is partial, if it cannot be removed.
            let _ = std::fs::remove_dir_all(&draft);
        })?;
        let (from, to) = (data_dir.display(), destination.display());
        output::print(&format!(
            "Copied {from} to {to} ({}).\nTo restore it: stop the gateway, then  mv {from} {from}.old && cp -r {to} {from}\nA gateway that starts with the copy sends nothing until you say: hermod restore review\n{}",
            in_words(bytes),
            if target.keeps_pepper_elsewhere()? {
                "The pepper is not in the copy, because the settings or the environment name it: keep a copy of it elsewhere.\n"
            } else if without_keys {
                "The keys are not in the copy: keep pepper.key safe elsewhere, and put it back before you start.\n"
            } else {
                ""
            }
        ))
    }
}

async fn copy(target: &TargetArgs, from: &Path, draft: &Path, keys: &[&str]) -> Result<u64, Failure> {
    if target.server()?.is_some() {
        return Err(Failure::usage(
            "the store is on PostgreSQL: copy it with pg_dump or pg_basebackup, and keep pepper.key of the data folder with it",
        ));
    }
    if !from.join(DATABASE).exists() {
        return Err(Failure::usage(format!("{} is not a data folder of Hermod", from.display())));
    }
    if keys.contains(&PEPPER) && !from.join(PEPPER).exists() && !target.keeps_pepper_elsewhere()? {
        return Err(Failure::usage(format!(
            "{} has no {PEPPER}, and a copy without it cannot be served: put it back, or use --without-keys",
            from.display()
        )));
    }
    if draft.exists() {
        // Remains of a backup that was killed.
        std::fs::remove_dir_all(draft).map_err(|error| about(draft, &error))?;
    }
    if let Some(parent) = draft.parent() {
        std::fs::create_dir_all(parent).map_err(|error| about(parent, &error))?;
    }
    // Before the database, whose log may grow meanwhile.
    let mut files = read_files(from, &[running::AUDIT_HEAD_FILE, running::ERASURES_FILE])?;
    files.extend(read_files(from, keys)?);
    let mut bytes = match target.running().await? {
        Some(gateway) => copy_by_gateway(&gateway, draft).await?,
        None => {
            std::fs::DirBuilder::new().mode(0o700).create(draft).map_err(|error| about(draft, &error))?;
            running::Store::backup(from, &draft.join(DATABASE), Clock::real().now())
                .map_err(Failure::failed)?;
            size_of(&draft.join(DATABASE))?
        }
    };
    for (name, octets) in files {
        let copied = draft.join(name);
        write_private(&copied, &octets).map_err(|error| about(&copied, &error))?;
        bytes += size_of(&copied)?;
    }
    File::open(draft).and_then(|folder| folder.sync_all()).map_err(|error| about(draft, &error))?;
    Ok(bytes)
}

/// Reads those of these files that the folder has.
fn read_files<'a>(folder: &Path, names: &[&'a str]) -> Result<Vec<(&'a str, Vec<u8>)>, Failure> {
    let mut files = Vec::new();
    for name in names {
        match std::fs::read(folder.join(name)) {
            Ok(octets) => files.push((*name, octets)),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(about(&folder.join(name), &error)),
        }
    }
    Ok(files)
}

/// Writes a new file that only its owner can read. It is durable when its folder is.
fn write_private(path: &Path, octets: &[u8]) -> std::io::Result<()> {
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(octets)?;
    file.sync_all()
}

fn sync_parent(path: &Path) -> CommandResult {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(parent).and_then(|folder| folder.sync_all()).map_err(|error| about(parent, &error))
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

/// Lets the gateway create a folder with a copy of its database. Returns the size of the copy.
pub(crate) async fn copy_by_gateway(gateway: &OperatorClient, folder: &Path) -> Result<u64, Failure> {
    let folder = std::path::absolute(folder).map_err(Failure::failed)?;
    let request = BackupRequest { folder: folder.display().to_string() };
    let response = gateway
        .send_with_timeout(Method::POST, "/backups", RequestBody::json(&request), COPY_TIMEOUT)
        .await?;
    let BackupView { bytes, .. } = response.read_as().map_err(Failure::failed)?;
    if !folder.exists() {
        return Err(Failure::failed(format!(
            "the gateway made the copy in {}, which this process cannot see: run the command where the gateway runs",
            folder.display()
        )));
    }
    Ok(bytes)
}
