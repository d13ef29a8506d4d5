//! Third-party programs that the tests use as customers: SMPP libraries of Python and Perl, the gateway Kannel, tshark to
//! decode sessions, PHP as a webhook receiver, Java for a quickstart, and Chromium with axe-core for the portal. Pinned SMPP libraries of Node and
//! Python that tests use as carriers; the scripts that use them are beside the tests.

use clap::ValueEnum;

use crate::packages;
use crate::shell::Failure;
use crate::tools::Packaged;

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
    /// The variable that gives its path to the tests, such as `HERMOD_CLIENT_PYTHON`.
    pub(crate) fn variable(self) -> String {
        variable("HERMOD_CLIENT", self)
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
            Client::Perl => PERL.ensure(),
            Client::Kannel => KANNEL.ensure(),
            Client::Tshark => TSHARK.ensure(),
            Client::Php => PHP.ensure(),
            Client::Java => JAVA.ensure(),
            Client::Chromium => {
                // The driver starts the browser, so both are needed.
                CHROMIUM.ensure()?;
                CHROMIUM_DRIVER.ensure()
            }
            Client::Axe => {
                // The lock has the digest of the package, which npm compares.
                let folder = packages::node("client-axe", "crates/hermod/tests/browser/axe")?;
                Ok(folder.join("node_modules/axe-core/axe.min.js").to_string_lossy().into_owned())
            }
        }
    }
}

/// Returns the name of a variable for a value of the command line.
fn variable(prefix: &str, value: impl ValueEnum) -> String {
    let name = value.to_possible_value().map(|value| value.get_name().to_uppercase());
    format!("{prefix}_{}", name.unwrap_or_default())
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

/// A library that a carrier of the tests uses.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Library {
    /// The package `smpp` of npm
    Node,
    /// The package `smpp.twisted3` of PyPI
    Twisted,
}

impl Library {
    /// The variable that gives its path to the tests, such as `HERMOD_SMSC_NODE`.
    pub(crate) fn variable(self) -> String {
        variable("HERMOD_SMSC", self)
    }

    /// Returns the folder of the packages for Node, or the Python that has Twisted.
    pub(crate) fn ensure(self) -> Result<String, Failure> {
        let place = match self {
            Library::Node => {
                packages::node("smsc-node", "crates/hermod/tests/smsc/node")?.join("node_modules")
            }
            Library::Twisted => {
                let requirements = "crates/hermod/tests/smsc/python/requirements.txt";
                packages::python("smsc-twisted", requirements)?.join("bin/python")
            }
        };
        Ok(place.to_string_lossy().into_owned())
    }
}
