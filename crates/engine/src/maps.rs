//! Hash maps without random seeds: the same commands in the same order give the same maps in every process.

use std::collections;
use std::hash::{BuildHasherDefault, DefaultHasher};

pub type HashMap<K, V> = collections::HashMap<K, V, BuildHasherDefault<DefaultHasher>>;
pub type HashSet<T> = collections::HashSet<T, BuildHasherDefault<DefaultHasher>>;
