//! The customer portal. Elements, forms, charts and layout are plain data in, HTML out, without I/O and without knowledge of the
//! gateway.
//!
//! A handler of a page (`pages`) asks use cases, fills the struct of the page and calls `render`. Values are escaped by the templates;
//! only types of this crate that escape their own content implement [`askama::filters::HtmlSafe`].

pub mod assets;
pub mod chart;
pub mod elements;
pub mod forms;
pub mod layout;
pub mod numbers;
pub mod pages;
pub mod plain_message;
mod request;
pub mod server;
pub mod svg;
pub mod time;

pub use askama::Template;
pub use time::Time;
