//! The MCP face of the catalogue: translates, decides nothing. No type of the SDK leaves this crate.
//!
//! Both eras are spoken: stateless requests of revision 2026-07-28 (`server/discover`) and `initialize`
//! of the earlier ones. A connection is an owner: its sessions end with it.

mod server;
mod transport;

use bathy_tools::{Selection, Toolbox};
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;
use tokio_util::sync::CancellationToken;

use crate::server::Server;
use crate::transport::Ordered;

/// What a server offers.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Which tools are listed. Others of the catalogue cannot be called either.
    pub tools: Selection,
    /// Whether answers carry `structuredContent` besides their text, and tools an `outputSchema`. Several hosts show
    /// the model nothing else then.
    pub structured: bool,
}

/// A connection that did not end as it should.
#[derive(Debug, thiserror::Error)]
#[error("the MCP connection broke: {0}")]
pub struct ServeError(String);

/// Serves one connection on standard input and output until the input ends or `stop` is cancelled. The toolbox stays
/// open; whoever made it closes it.
///
/// # Errors
/// [`ServeError`] when the connection could not be established or its task failed.
pub async fn serve_stdio(toolbox: &Toolbox, options: Options, stop: CancellationToken) -> Result<(), ServeError> {
    let owner = toolbox.owner();
    let (input, output) = stdio_pipes();
    let transport = Ordered::new(owner.clone(), input, output);
    let server = Server::new(owner, toolbox.clone(), &options);
    let running = match server.serve_with_ct(transport, stop).await {
        Ok(running) => running,
        // A host that only looked whether we start is no fault.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            return Ok(());
        }
        Err(error) => return Err(ServeError(error.to_string())),
    };
    running.waiting().await.map(drop).map_err(|error| ServeError(error.to_string()))
}
