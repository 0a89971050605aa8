//! The real binary: as an MCP server on standard input and output, and as a command.

#![expect(clippy::unwrap_used, reason = "tests and their helpers")]

mod client;
mod commands;
mod keys;
mod lifecycle;
mod protocol;
mod secrets;
mod state;
mod window;
mod work;
