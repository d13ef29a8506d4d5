//! Tests of the simulator over real sockets.

mod binds;
mod carrier;
mod command_line;
mod esme;
mod helpers;
mod http_load;
mod ids;
mod limits;
mod malformed;
mod mo;
mod outages;
mod receipt_formats;
mod receipt_links;
mod receipts;
mod record;
mod responses;
mod smpp_load;
mod tls;
mod unresponsive_links;
mod webhooks;
