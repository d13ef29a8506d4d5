//! Unit tests of `body_memory.rs`.

use super::*;

const FREE: usize = 8 * 1024;

#[test]
fn bodies_share_one_limit_and_release_their_memory() {
    let memory = BodyMemory::new(1000);
    let (mut one, mut other) = (memory.reserve(), memory.reserve());
    assert_eq!(one.grow_to(FREE + 600), Ok(()));
    assert_eq!(other.grow_to(FREE + 401), Err(BodyMemoryFull));
    assert_eq!(other.grow_to(FREE + 400), Ok(()));
    assert_eq!((memory.used(), one.grow_to(FREE + 601)), (1000, Err(BodyMemoryFull)));
    assert_eq!(memory.used(), 400, "a rejected body holds nothing");
    assert_eq!(other.grow_to(FREE + 1000), Ok(()));
    drop((one, other));
    assert_eq!(memory.used(), 0);
}

#[test]
fn small_bodies_are_not_counted() {
    let memory = BodyMemory::new(0);
    let mut small = memory.reserve();
    assert_eq!((small.grow_to(FREE), memory.used()), (Ok(()), 0));
    assert_eq!(small.grow_to(FREE + 1), Err(BodyMemoryFull));
}
