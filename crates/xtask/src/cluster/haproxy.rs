//! What HAProxy says about the nodes, over its socket.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use crate::shell::Failure;

/// A node in one of HAProxy's backends.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Server {
    pub(super) backend: String,
    pub(super) name: String,
    /// Whether it gets connections: its last health check was passed.
    pub(super) is_up: bool,
}

/// Returns all nodes in all backends.
pub(super) fn servers(socket: &Path) -> Result<Vec<Server>, Failure> {
    let cannot = |cause: std::io::Error| Failure(format!("the socket of HAProxy: {cause}"));
    let mut stream = UnixStream::connect(socket).map_err(cannot)?;
    stream.write_all(b"show stat\n").map_err(cannot)?;
    let mut table = String::new();
    stream.read_to_string(&mut table).map_err(cannot)?;
    Ok(parse(&table))
}

/// Reads the lines of nodes from CSV with a line of titles.
fn parse(table: &str) -> Vec<Server> {
    let mut lines = table.lines();
    let titles: Vec<&str> = lines.next().unwrap_or_default().trim_start_matches("# ").split(',').collect();
    let column = |name: &str| titles.iter().position(|title| *title == name).unwrap_or(usize::MAX);
    let (backend, name) = (column("pxname"), column("svname"));
    let (status, check) = (column("status"), column("check_status"));
    let rows = lines.map(|line| line.split(',').collect::<Vec<_>>());
    rows.filter_map(|row| {
        let value = |column: usize| row.get(column).copied().unwrap_or_default();
        // Totals have no health check.
        (!value(check).is_empty()).then(|| Server {
            backend: value(backend).to_owned(),
            name: value(name).to_owned(),
            is_up: value(status) == "UP" && value(check) == "L7OK",
        })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_nodes_that_passed_a_health_check_are_up() {
        let table = "# pxname,svname,scur,status,check_status,\nsmpp,FRONTEND,1,OPEN,,\nbinds,a,1,UP,L7OK,\n\
                     binds,b,0,DOWN,L7STS,\nbinds,c,0,UP,INI,\nbinds,BACKEND,1,UP,,\n";
        let server = |name: &str, is_up| Server { backend: "binds".into(), name: name.into(), is_up };
        assert_eq!(parse(table), [server("a", true), server("b", false), server("c", false)]);
    }
}
