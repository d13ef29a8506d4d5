//! Unit tests of `binary_rows.rs`.

use super::*;

#[track_caller]
fn check(of: ColumnType, value: ValueRef<'_>, expect: Option<&[u8]>) {
    let mut out = BytesMut::new();
    let fits = put_value(&mut out, of, value).expect("valid text");
    assert_eq!(fits.then_some(&out[..]), expect, "{of:?} {value:?}");
}

#[test]
fn value_is_written_as_its_column_needs_it() {
    use ColumnType::{Bigint, Bytea, Text};
    check(Bigint, ValueRef::Integer(-2), Some(b"\0\0\0\x08\xff\xff\xff\xff\xff\xff\xff\xfe"));
    check(Bigint, ValueRef::Null, Some(b"\xff\xff\xff\xff"));
    check(Text, ValueRef::Text(b"ab"), Some(b"\0\0\0\x02ab"));
    check(Text, ValueRef::Text(b"a\0"), Some("\0\0\0\x04a\u{fffd}".as_bytes()));
    check(Bytea, ValueRef::Text(b"a\0"), Some(b"\0\0\0\x02a\0"));
    check(Bytea, ValueRef::Blob(b""), Some(b"\0\0\0\0"));
    check(Bigint, ValueRef::Text(b"7"), None);
    check(Text, ValueRef::Blob(b"ab"), None);
    check(Text, ValueRef::Integer(7), None);
}
