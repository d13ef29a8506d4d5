//! Runs the linker script of the repository on machines made of a few files: with and without a compiler, an apt-get and
//! root. The apt-get of such a machine records its calls, and installing makes a `cc` appear.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const INSTALL: &str = "apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev";

/// A machine whose PATH is one folder.
struct Machine {
    folder: tempfile::TempDir,
}

impl Machine {
    /// Root, with what every Debian has and no compiler.
    fn bare() -> Machine {
        let machine = Machine { folder: tempfile::tempdir().expect("a temporary folder") };
        fs::create_dir(machine.bin()).expect("the folder is new");
        for program in ["sh", "flock", "setsid", "chmod", "cat"] {
            symlink(find(program), machine.bin().join(program)).expect("a link in a new folder");
        }
        machine.program("id", "echo 0");
        machine
    }

    fn with_apt_get(self) -> Machine {
        let (calls, cc) = (self.calls_path(), self.bin().join("cc"));
        let (calls, cc) = (calls.display(), cc.display());
        self.program(
            "apt-get",
            &format!(
                "echo \"apt-get $*\" >>{calls}\necho \"apt-get runs\" >&2\n\
                 [ \"$1\" = update ] || {{ printf '#!/bin/sh\\necho \"cc $*\" >>{calls}\\n' >{cc}; chmod +x {cc}; }}"
            ),
        );
        self
    }

    /// A program that records that it was called.
    fn with_recorder(self, name: &str) -> Machine {
        let calls = self.calls_path();
        self.program(name, &format!("echo \"{name} $*\" >>{}", calls.display()));
        self
    }

    fn program(&self, name: &str, script: &str) {
        let path = self.bin().join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("the folder is ours");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("the file is ours");
    }

    fn bin(&self) -> PathBuf {
        self.folder.path().join("bin")
    }

    fn calls_path(&self) -> PathBuf {
        self.folder.path().join("calls")
    }

    /// Every program that was called, in order.
    fn calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.calls_path()).unwrap_or_default();
        calls.lines().map(str::to_owned).collect()
    }

    /// Links `main.o`. Without a terminal, which is where the script would also tell the person building.
    fn link(&self, variables: &[(&str, &str)]) -> Output {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("linker");
        let mut command = Command::new(self.bin().join("setsid"));
        command.arg("--wait").arg(script).args(["-o", "main", "main.o"]);
        command.env_clear().env("PATH", self.bin()).envs(variables.iter().copied());
        command.output().expect("setsid is on every Debian")
    }
}

fn find(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").expect("the tests have a PATH");
    let found = std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file());
    found.unwrap_or_else(|| panic!("`{program}` is not on the PATH"))
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn compiler_on_the_path_is_called_and_nothing_else() {
    for compiler in ["cc", "gcc", "clang"] {
        let machine = Machine::bare().with_apt_get().with_recorder(compiler);
        let output = machine.link(&[]);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(machine.calls(), [format!("{compiler} -o main main.o")]);
        assert_eq!(stderr(&output), "");
    }
}

#[test]
fn compiler_named_by_cc_is_called_and_nothing_else() {
    let machine = Machine::bare().with_apt_get().with_recorder("cc").with_recorder("my-compiler");
    let output = machine.link(&[("CC", "my-compiler -v")]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(machine.calls(), ["my-compiler -v -o main main.o"]);
}

#[test]
fn wrong_cc_fails_and_installs_nothing() {
    let machine = Machine::bare().with_apt_get();
    let output = machine.link(&[("CC", "no-such-compiler")]);
    assert!(!output.status.success());
    assert!(stderr(&output).contains("no-such-compiler"), "{output:?}");
    assert_eq!(machine.calls(), [""; 0]);
}

#[test]
fn bare_machine_is_told_before_a_compiler_is_installed() {
    let machine = Machine::bare().with_apt_get();
    let output = machine.link(&[]);
    assert!(output.status.success(), "{output:?}");
    let expect =
        ["apt-get update", "apt-get install -y --no-install-recommends gcc libc6-dev", "cc -o main main.o"];
    assert_eq!(machine.calls(), expect);
    let lines = stderr(&output);
    let announced = lines.lines().next().expect("the installation is announced");
    assert!(announced.contains("Installing gcc libc6-dev") && announced.contains(INSTALL), "{lines}");
    assert!(announced.contains("HERMOD_SETUP=no"), "{lines}");
    assert_eq!(lines.lines().nth(1), Some("apt-get runs"));
}

#[test]
fn hermod_setup_no_prints_the_command_and_stops() {
    let machine = Machine::bare().with_apt_get();
    let output = machine.link(&[("HERMOD_SETUP", "no")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains(INSTALL), "{output:?}");
    assert_eq!(machine.calls(), [""; 0]);
}

#[test]
fn without_root_or_apt_get_the_command_is_printed() {
    let ordinary_user = Machine::bare().with_apt_get();
    ordinary_user.program("id", "echo 1000");
    for (machine, reason) in [(ordinary_user, "only root"), (Machine::bare(), "no apt-get")] {
        let output = machine.link(&[]);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains(INSTALL) && stderr(&output).contains(reason), "{output:?}");
        assert_eq!(machine.calls(), [""; 0]);
    }
}

#[test]
fn failed_installation_stops_with_the_command() {
    let machine = Machine::bare();
    machine.program("apt-get", "exit 100");
    let output = machine.link(&[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("The installation failed") && stderr(&output).contains(INSTALL),
        "{output:?}"
    );
}
