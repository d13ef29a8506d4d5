//! Third-party programs that the tests use as customers: SMPP libraries of Python and Perl, the gateway Kannel, tshark to
//! decode sessions, PHP as a webhook receiver, Java for a quickstart, and Chromium with axe-core for the portal. (Node's library is
//! also used as a carrier: see `smsc`.)

use clap::ValueEnum;

use crate::shell::{self, Failure};
use crate::{packages, tools};

/// A third-party program that the tests need.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Client {
    /// The package `smpplib` of PyPI
    Python,
    /// `Net::SMPP` with TLS
    Perl,
    /// The SMS gateway Kannel
    Kannel,
    /// Decodes recorded sessions
    Tshark,
    /// Runs a webhook receiver and a quickstart of the portal
    Php,
    /// Runs a quickstart of the portal
    Java,
    /// Opens the pages of the portal
    Chromium,
    /// Checks the pages of the portal for accessibility
    Axe,
}

impl Client {
    pub(crate) const ALL: [Client; 8] = [
        Client::Python,
        Client::Perl,
        Client::Kannel,
        Client::Tshark,
        Client::Php,
        Client::Java,
        Client::Chromium,
        Client::Axe,
    ];

    /// The variable that gives its path to the tests.
    pub(crate) fn variable(self) -> &'static str {
        match self {
            Client::Python => "HERMOD_CLIENT_PYTHON",
            Client::Perl => "HERMOD_CLIENT_PERL",
            Client::Kannel => "HERMOD_CLIENT_KANNEL",
            Client::Tshark => "HERMOD_CLIENT_TSHARK",
            Client::Php => "HERMOD_CLIENT_PHP",
            Client::Java => "HERMOD_CLIENT_JAVA",
            Client::Chromium => "HERMOD_CLIENT_CHROMIUM",
            Client::Axe => "HERMOD_CLIENT_AXE",
        }
    }

    /// The program to start: the Python or Perl that has the library, Kannel's `bearerbox` (its `smsbox` is beside it),
    /// `tshark`, `php`, the driver of Chromium. Of axe-core it is the script.
    pub(crate) fn ensure(self) -> Result<String, Failure> {
        match self {
            Client::Python => {
                let requirements = "crates/hermod/tests/clients/python/requirements.txt";
                let folder = packages::python("client-python", requirements)?;
                Ok(folder.join("bin/python").to_string_lossy().into_owned())
            }
            Client::Perl => installed(&PERL),
            Client::Kannel => installed(&KANNEL),
            Client::Tshark => installed(&TSHARK),
            Client::Php => installed(&PHP),
            Client::Java => installed(&JAVA),
            Client::Chromium => {
                // The driver starts the browser, so both are needed.
                installed(&CHROMIUM)?;
                installed(&CHROMIUM_DRIVER)
            }
            Client::Axe => {
                // The lock has the digest of the package, which npm compares.
                let folder = packages::node("client-axe", "crates/hermod/tests/browser/axe")?;
                Ok(folder.join("node_modules/axe-core/axe.min.js").to_string_lossy().into_owned())
            }
        }
    }
}

/// A program from packages of the distribution.
struct Packaged {
    name: &'static str,
    /// Possible paths; `sbin` is not in every user's PATH.
    programs: &'static [&'static str],
    /// Arguments that succeed if it is complete.
    probe: &'static [&'static str],
    packages: &'static [&'static str],
}

const PERL: Packaged = Packaged {
    name: "Net::SMPP",
    programs: &["perl"],
    probe: &["-MNet::SMPP", "-MIO::Socket::SSL", "-MJSON::PP", "-MDigest::SHA", "-e", "1"],
    packages: &["libnet-smpp-perl", "libio-socket-ssl-perl"],
};
const KANNEL: Packaged = Packaged {
    name: "Kannel",
    programs: &["bearerbox", "/usr/sbin/bearerbox"],
    probe: &["--version"],
    packages: &["kannel"],
};
const TSHARK: Packaged =
    Packaged { name: "tshark", programs: &["tshark"], probe: &["--version"], packages: &["tshark"] };

const PHP: Packaged = Packaged {
    name: "PHP",
    programs: &["php"],
    probe: &["-r", "exit(function_exists('hash_hmac') ? 0 : 1);"],
    packages: &["php-cli"],
};

/// With the compiler, which runs a program from its source.
const JAVA: Packaged = Packaged {
    name: "Java",
    programs: &["java"],
    probe: &["--describe-module", "jdk.compiler"],
    packages: &["default-jdk-headless"],
};
const CHROMIUM: Packaged = Packaged {
    name: "Chromium",
    programs: &["chromium"],
    probe: &["--version"],
    packages: &["chromium", "chromium-driver"],
};
const CHROMIUM_DRIVER: Packaged = Packaged {
    name: "The driver of Chromium",
    programs: &["chromedriver"],
    probe: &["--version"],
    packages: &["chromium", "chromium-driver"],
};

fn installed(wanted: &Packaged) -> Result<String, Failure> {
    let found = || wanted.programs.iter().find(|program| shell::succeeds(program, wanted.probe, ""));
    if let Some(program) = found() {
        return Ok((*program).to_owned());
    }
    println!("{} is missing: installing {}", wanted.name, wanted.packages.join(" and "));
    tools::apt_install(wanted.packages)?;
    let program = found().ok_or_else(|| Failure(format!("{} still cannot be run", wanted.name)))?;
    Ok((*program).to_owned())
}
