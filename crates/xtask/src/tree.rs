//! The files of the workspace in memory. Rules take a `Tree` and do not access the disk, so that tests can use a small one.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::shell::Failure;

pub(crate) struct TextFile {
    /// Relative to the root, with forward slashes.
    pub(crate) path: String,
    pub(crate) text: String,
}

#[derive(Default)]
pub(crate) struct Tree {
    files: Vec<TextFile>,
    /// Every file and folder, as targets of links.
    paths: BTreeSet<String>,
}

impl Tree {
    /// Reads everything except `.git` and the root folders in `.gitignore`.
    pub(crate) fn read(root: &Path) -> Result<Tree, Failure> {
        let ignore = fs::read_to_string(root.join(".gitignore")).unwrap_or_default();
        let mut skipped: BTreeSet<&str> = ignore.lines().filter_map(|line| line.strip_prefix('/')).collect();
        skipped.insert(".git");
        let mut tree = Tree::default();
        tree.read_folder(root, "", &skipped)
            .map_err(|cause| Failure(format!("cannot read the workspace: {cause}")))?;
        tree.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(tree)
    }

    fn read_folder(&mut self, root: &Path, folder: &str, skipped: &BTreeSet<&str>) -> std::io::Result<()> {
        for entry in fs::read_dir(root.join(folder))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            if skipped.contains(path.as_str()) {
                continue;
            }
            self.paths.insert(path.clone());
            if entry.file_type()?.is_dir() {
                self.read_folder(root, &path, skipped)?;
            } else if let Ok(text) = String::from_utf8(fs::read(entry.path())?) {
                self.files.push(TextFile { path, text });
            }
        }
        Ok(())
    }

    pub(crate) fn files(&self) -> &[TextFile] {
        &self.files
    }

    pub(crate) fn with_extension(&self, extension: &str) -> impl Iterator<Item = &TextFile> {
        self.files.iter().filter(move |file| has_extension(&file.path, extension))
    }

    pub(crate) fn text_of(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|file| file.path == path).map(|file| file.text.as_str())
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.paths.contains(path)
    }
}

fn has_extension(path: &str, extension: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, found)| found == extension)
}

#[cfg(test)]
impl Tree {
    pub(crate) fn of(files: &[(&str, &str)]) -> Tree {
        let mut tree = Tree::default();
        for (path, text) in files {
            for (cut, _) in path.match_indices('/') {
                tree.paths.insert(path[..cut].to_owned());
            }
            tree.paths.insert((*path).to_owned());
            tree.files.push(TextFile { path: (*path).to_owned(), text: (*text).to_owned() });
        }
        tree
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell;

    #[test]
    fn workspace_is_read_without_ignored_folders() {
        let tree = Tree::read(&shell::root()).expect("the workspace can be read");
        assert!(tree.has("crates/xtask/src") && tree.text_of("crates/xtask/src/tree.rs").is_some());
        let ignored = |path: &str| path.starts_with("target/") || path.starts_with(".git/");
        assert!(tree.files().iter().all(|file| !ignored(&file.path)));
    }
}
