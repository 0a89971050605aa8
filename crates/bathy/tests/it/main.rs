//! The real binary: as an MCP server on standard input and output, and as a command.

mod client;
mod commands;
mod lifecycle;
mod protocol;
mod work;
