//! The values of a statement's parameters.

use rusqlite::ToSql;

/// Values in the order of their parameters.
pub(crate) trait Params {
    fn with<T>(&self, use_values: impl FnOnce(&[&dyn ToSql]) -> T) -> T;
}

/// From `params!`.
impl Params for &[&dyn ToSql] {
    #[inline]
    fn with<T>(&self, use_values: impl FnOnce(&[&dyn ToSql]) -> T) -> T {
        use_values(self)
    }
}

/// No values: `[]`.
impl Params for [&(dyn ToSql + Send + Sync); 0] {
    #[inline]
    fn with<T>(&self, use_values: impl FnOnce(&[&dyn ToSql]) -> T) -> T {
        use_values(&[])
    }
}

macro_rules! arrays {
    ($($length:literal)*) => {$(
        impl<V: ToSql> Params for [V; $length] {
            #[inline]
            fn with<T>(&self, use_values: impl FnOnce(&[&dyn ToSql]) -> T) -> T {
                use_values(&self.each_ref().map(|value| value as &dyn ToSql))
            }
        }
    )*};
}

// An array of no values has an implementation of its own, because it has no type of values.
arrays![1 2 3 4 5 6 7];
