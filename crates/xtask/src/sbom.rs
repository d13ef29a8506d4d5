//! `cargo xtask sbom`: a bill of materials of the product in CycloneDX 1.5. Lists every crate that `cargo metadata` finds
//! below the binary, build scripts and their needs included, tests excluded, and the SQLite that is compiled in.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::shell::{self, Failure, Outcome};

const PRODUCT: &str = "hermod";
/// The target to resolve for. All released targets have the same crates.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

#[derive(clap::Args)]
pub(crate) struct SbomOptions {
    /// File to write; standard output without it
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(options: &SbomOptions) -> Outcome {
    let bill = serde_json::to_string_pretty(&bill()?).map_err(|cause| Failure(cause.to_string()))?;
    match &options.output {
        None => println!("{bill}"),
        Some(file) => fs::write(file, bill + "\n")
            .map_err(|cause| Failure(format!("cannot write {}: {cause}", file.display())))?,
    }
    Ok(())
}

fn bill() -> Result<Value, Failure> {
    let args = ["metadata", "--format-version", "1", "--locked", "--filter-platform", PLATFORM];
    let printed = shell::output_of("cargo", &args)
        .ok_or_else(|| Failure(format!("`cargo {}` failed: run it to see why", args.join(" "))))?;
    let metadata: Value = serde_json::from_str(&printed).map_err(|cause| Failure(cause.to_string()))?;
    let lock = fs::read_to_string(shell::root().join("Cargo.lock"))
        .map_err(|cause| Failure(format!("cannot read Cargo.lock: {cause}")))?;
    bill_of(&metadata, &checksums(&lock))
}

/// Returns the SHA-256 of every crate from a registry, by name and version.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let lock: toml::Table = lock.parse().unwrap_or_default();
    let packages = lock.get("package").and_then(toml::Value::as_array);
    let text = |package: &toml::Value, key| package.get(key).and_then(toml::Value::as_str).map(str::to_owned);
    let entry =
        |package| Some(((text(package, "name")?, text(package, "version")?), text(package, "checksum")?));
    packages.into_iter().flatten().filter_map(entry).collect()
}

fn bill_of(metadata: &Value, checksums: &BTreeMap<(String, String), String>) -> Result<Value, Failure> {
    let packages: BTreeMap<&str, &Value> =
        list(&metadata["packages"]).map(|package| (text(package, "id"), package)).collect();
    let nodes: BTreeMap<&str, &Value> =
        list(&metadata["resolve"]["nodes"]).map(|node| (text(node, "id"), node)).collect();
    let product = packages.values().find(|package| text(package, "name") == PRODUCT);
    let product = product.ok_or_else(|| Failure(format!("cargo metadata names no package `{PRODUCT}`")))?;

    let mut graph: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut waiting = vec![text(product, "id")];
    while let Some(id) = waiting.pop() {
        if graph.contains_key(id) {
            continue;
        }
        let needed: Vec<&str> =
            list(&nodes[id]["deps"]).filter(|need| is_built(need)).map(|need| text(need, "pkg")).collect();
        waiting.extend(&needed);
        graph.insert(id, needed);
    }

    let mut components = Vec::new();
    let mut dependencies = BTreeMap::new();
    for (id, needed) in &graph {
        let package = packages[id];
        let mut refs: BTreeSet<String> = needed.iter().map(|id| reference(packages[id])).collect();
        if let Some(sqlite) = bundled_sqlite(package) {
            refs.insert(text(&sqlite, "bom-ref").to_owned());
            dependencies.insert(text(&sqlite, "bom-ref").to_owned(), BTreeSet::new());
            components.push(sqlite);
        }
        dependencies.insert(reference(package), refs);
        if text(package, "name") != PRODUCT {
            components.push(component(package, "library", checksums));
        }
    }
    components.sort_by(|a, b| text(a, "bom-ref").cmp(text(b, "bom-ref")));
    let dependencies: Vec<Value> =
        dependencies.into_iter().map(|(of, on)| json!({"ref": of, "dependsOn": on})).collect();
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component(product, "application", checksums)},
        "components": components,
        "dependencies": dependencies,
    }))
}

/// Whether a dependency is compiled into the product or runs while it is built. Tests' own dependencies are neither.
fn is_built(need: &Value) -> bool {
    list(&need["dep_kinds"]).any(|kind| kind["kind"] != "dev")
}

fn component(package: &Value, kind: &str, checksums: &BTreeMap<(String, String), String>) -> Value {
    let (name, version) = (text(package, "name"), text(package, "version"));
    let mut component =
        json!({"type": kind, "bom-ref": reference(package), "name": name, "version": version});
    if let Some(license) = package["license"].as_str() {
        // The form before SPDX expressions, which some crates still use.
        component["licenses"] = json!([{"expression": license.replace('/', " OR ")}]);
    }
    if is_from_registry(package) {
        component["purl"] = json!(reference(package));
    }
    if let Some(checksum) = checksums.get(&(name.to_owned(), version.to_owned())) {
        component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    component
}

/// Returns the package URL of a crate from the registry; none for our own crates.
fn reference(package: &Value) -> String {
    let (name, version) = (text(package, "name"), text(package, "version").replace('+', "%2B"));
    if is_from_registry(package) {
        format!("pkg:cargo/{name}@{version}")
    } else {
        format!("{name}@{version}")
    }
}

fn is_from_registry(package: &Value) -> bool {
    package["source"].is_string()
}

/// The C library that `libsqlite3-sys` compiles in: advisories name it by its own version.
fn bundled_sqlite(package: &Value) -> Option<Value> {
    if text(package, "name") != "libsqlite3-sys" {
        return None;
    }
    let header = Path::new(text(package, "manifest_path")).with_file_name("sqlite3").join("sqlite3.h");
    let header = fs::read_to_string(header).ok()?;
    let line = header.lines().find_map(|line| line.strip_prefix("#define SQLITE_VERSION "))?;
    let version = line.trim().trim_matches('"');
    let purl = format!("pkg:generic/sqlite@{version}");
    Some(json!({"type": "library", "bom-ref": &purl, "name": "sqlite", "version": version, "purl": &purl}))
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

#[cfg(test)]
#[path = "sbom_tests.rs"]
mod tests;
