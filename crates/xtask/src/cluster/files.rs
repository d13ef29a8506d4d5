//! The files of the cluster. Those in deploy/ are used as they are shipped, with other addresses and paths: a shipped file that
//! no longer has one of the replaced texts fails the command.

use std::path::{Path, PathBuf};

use super::database;
use super::text;
use crate::gateway_files::{Customer, PEPPER, provision, write};
use crate::shell::{self, Failure, Outcome};

pub(super) const NODES: [&str; 3] = ["a", "b", "c"];
/// Where HAProxy connects from: the only address whose PROXY headers the nodes accept.
const BALANCER: &str = "127.0.0.10";

/// Links of a node to the carrier.
const LINKS: u32 = 3;

/// The customer of the cluster. Only 127.0.0.1 may use the connection: HAProxy connects from another address, so that a message is
/// accepted only if the customer's address arrives.
pub(super) fn customer() -> Customer {
    Customer { allow: Some("127.0.0.1"), ..Customer::new("demo") }
}

/// The ports of a cluster. Nodes have one address each and the same ports.
pub(super) struct Ports {
    pub(super) https: u16,
    pub(super) smpp: u16,
    pub(super) node_http: u16,
    pub(super) node_smpp: u16,
    pub(super) node_listen: u16,
    pub(super) carrier: u16,
}

pub(super) struct Files {
    pub(super) folder: PathBuf,
    pub(super) ports: Ports,
}

impl Files {
    /// Returns the address of a node.
    pub(super) fn host(index: usize) -> String {
        format!("127.0.0.{}", index + 1)
    }

    /// Returns the address of a node's plain HTTP.
    pub(super) fn node_http(&self, index: usize) -> String {
        format!("{}:{}", Files::host(index), self.ports.node_http)
    }

    pub(super) fn settings(&self, index: usize) -> PathBuf {
        self.folder.join(NODES[index]).join("hermod.toml")
    }

    pub(super) fn authority(&self) -> PathBuf {
        self.folder.join("tls/localhost/certificate.pem")
    }

    pub(super) fn haproxy(&self) -> PathBuf {
        self.folder.join("haproxy.cfg")
    }

    pub(super) fn haproxy_socket(&self) -> PathBuf {
        self.folder.join("haproxy.sock")
    }

    pub(super) fn base_url(&self) -> String {
        format!("https://localhost:{}", self.ports.https)
    }

    /// Makes a certificate for each name that a client connects to.
    pub(super) fn make_certificates(&self, simulator: &Path) -> Result<PathBuf, Failure> {
        let folder = self.folder.join("tls");
        make_certificates(simulator, &folder, &["localhost", "127.0.0.1", "127.0.0.2"])?;
        let read =
            |file: &str| std::fs::read_to_string(folder.join(file)).map_err(|cause| cannot(file, &cause));
        let pair = read("localhost/certificate.pem")? + &read("localhost/key.pem")?;
        self.write("haproxy.pem", &pair)?;
        self.write(
            "postgresql-ca.pem",
            &(read("127.0.0.1/certificate.pem")? + &read("127.0.0.2/certificate.pem")?),
        )?;
        Ok(folder)
    }

    /// Writes the settings of all nodes and of HAProxy.
    pub(super) fn write_all(&self, postgres_port: u16) -> Outcome {
        self.write("pepper.key", PEPPER)?;
        self.write("operator.token", "token-of-the-loopback-cluster\n")?;
        let carrier = format!("127.0.0.1:{}", self.ports.carrier);
        self.write("provision.toml", &provision(&carrier, LINKS, &[customer()]))?;
        let shipped = read_shipped("deploy/hermod.toml")?;
        for (index, name) in NODES.iter().enumerate() {
            self.write(&format!("{name}/hermod.toml"), &self.node_settings(&shipped, index, postgres_port)?)?;
        }
        let haproxy = self.haproxy_settings(&read_shipped("deploy/haproxy/haproxy.cfg")?)?;
        self.write("haproxy.cfg", &haproxy)
    }

    fn node_settings(&self, shipped: &str, index: usize, postgres_port: u16) -> Result<String, Failure> {
        let (folder, host) = (text(&self.folder), Files::host(index));
        let Ports { node_http, node_smpp, node_listen, .. } = self.ports;
        let name = NODES[index];
        let database = format!(
            "{}@127.0.0.1:{postgres_port},127.0.0.2:{postgres_port}/{}?sslmode=require&",
            database::PASSWORD,
            database::DATABASE
        );
        let replaced = [
            ("\"/var/lib/hermod\"", format!("\"{folder}/{name}/data\"")),
            // Without sslmode, connections on the loopback are not encrypted.
            ("CHANGE-ME@10.0.0.1:5432,10.0.0.2:5432,10.0.0.3:5432/sms?", database),
            ("/etc/hermod/", format!("{folder}/")),
            ("name = \"a\"", format!("name = \"{name}\"")),
            ("\"10.0.0.1:2777\"", format!("\"{host}:{node_listen}\"")),
            ("\"0.0.0.0:8080\"", format!("\"{host}:{node_http}\"")),
            ("\"10.0.0.1:2775\"", format!("\"{host}:{node_smpp}\"")),
            ("[\"10.0.0.10\"]", format!("[\"{BALANCER}\"]")),
            ("https://sms.example.com", self.base_url()),
        ];
        let settings = adapt(shipped, &replaced)?;
        Ok(format!("{settings}\n[provision]\nfile = \"{folder}/provision.toml\"\n"))
    }

    fn haproxy_settings(&self, shipped: &str) -> Result<String, Failure> {
        let Ports { https, smpp, node_http, node_smpp, .. } = self.ports;
        let replaced = [
            // A process that becomes another user is not ended with this one.
            ("    user haproxy\n", String::new()),
            ("    group haproxy\n", String::new()),
            // Each connection needs two open files, which not every machine allows.
            ("maxconn 20000", "maxconn 1000".to_owned()),
            ("/run/haproxy/admin.sock", text(&self.haproxy_socket())),
            ("/etc/haproxy/sms.example.com.pem", text(&self.folder.join("haproxy.pem"))),
            ("bind :443 ", format!("bind 127.0.0.1:{https} ")),
            ("bind :2775\n", format!("bind 127.0.0.1:{smpp}\n")),
            ("source 10.0.0.10\n", format!("source {BALANCER}\n")),
            (" 10.0.0.", " 127.0.0.".to_owned()),
            (":8080\n", format!(":{node_http}\n")),
            (" port 8080 ", format!(" port {node_http} ")),
            (":2775\n", format!(":{node_smpp}\n")),
        ];
        adapt(shipped, &replaced)
    }

    fn write(&self, name: &str, content: &str) -> Outcome {
        write(&self.folder.join(name), content)
    }
}

/// Writes `certificate.pem` and `key.pem` for each name, into a folder of that name.
pub(crate) fn make_certificates(simulator: &Path, folder: &Path, names: &[&str]) -> Outcome {
    for name in names {
        let own = text(&folder.join(name));
        let made = shell::output_of(&text(simulator), &["certificate", &own, "--name", name]);
        made.ok_or_else(|| Failure(format!("cannot make a certificate in {own}")))?;
    }
    Ok(())
}

/// Replaces every occurrence of each text, in this order. Each must occur.
fn adapt(shipped: &str, replaced: &[(&str, String)]) -> Result<String, Failure> {
    let mut adapted = shipped.to_owned();
    for (from, to) in replaced {
        if !adapted.contains(from) {
            return Err(Failure(format!("a file in deploy/ has no `{}` any more", from.trim())));
        }
        adapted = adapted.replace(from, to);
    }
    Ok(adapted)
}

fn read_shipped(file: &str) -> Result<String, Failure> {
    std::fs::read_to_string(shell::root().join(file)).map_err(|cause| cannot(file, &cause))
}

fn cannot(file: &str, cause: &std::io::Error) -> Failure {
    Failure(format!("{file}: {cause}"))
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
