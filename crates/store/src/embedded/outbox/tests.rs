//! The rules of an outbox, told in numbers.
