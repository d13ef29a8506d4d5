//! The trace of every golden vector in one golden file.
//! `UPDATE=1 cargo test -p hermod-smpp` accepts it.

use hermod_smpp::{ReceiptDialect, trace};
use std::fs;

use crate::vectors;

#[test]
fn trace_of_every_vector_equals_the_golden_file() {
    let told: String = vectors::all().iter().filter_map(line_of).collect();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/trace.txt");
    if vectors::is_updating() {
        fs::write(path, &told).expect("the golden file is writable");
    }
    let golden = fs::read_to_string(path).expect("the golden file is there");
    for (now, before) in told.lines().zip(golden.lines()) {
        assert_eq!(now, before);
    }
    assert_eq!(told.lines().count(), golden.lines().count());
}

fn line_of(vector: &vectors::Vector) -> Option<String> {
    let traced = trace::describe_all(&vector.octets, ReceiptDialect::Standard).next()?;
    Some(format!("{}: {traced}\n", vector.name))
}
