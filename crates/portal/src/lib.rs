//! The pages of the customer portal: plain data in, HTML out. No I/O, no requests, no knowledge of the gateway.
//!
//! A handler fills the struct of a page (`pages`) and calls `render`. Values are escaped by the templates; only types of
//! this crate that escape their own content implement [`askama::filters::HtmlSafe`].

pub mod assets;
pub mod chart;
pub mod elements;
pub mod forms;
pub mod layout;
pub mod numbers;
pub mod pages;
pub mod svg;
pub mod time;

pub use askama::Template;
pub use time::Time;
