//! `bathy mcp`.

use std::process::ExitCode;

use bathy_browser::Engine;
use bathy_tools::{Code, Failure, Toolbox};
use tokio_util::sync::CancellationToken;

use crate::config::Layers;
use crate::output;

/// Serves MCP on standard input and output until the input ends or a signal comes.
pub(super) async fn run(layers: &Layers) -> Result<ExitCode, Failure> {
    let config = layers.config()?;
    let stop = CancellationToken::new();
    stop_on_signals(&stop)?;
    let settings = config.settings()?;
    let engine = Engine::new(config.engine_options()?);
    let ledger = engine.ledger().clone();
    let secrets = settings.secrets.clone();
    ledger.mask_with(move |entry| secrets.mask_entry(entry));
    output::mask_log(settings.secrets.clone());
    let toolbox = Toolbox::new(engine, settings);
    let options = bathy_mcp::Options { tools: config.selection, structured: config.structured };
    let served = bathy_mcp::serve_stdio(&toolbox, options, stop).await;
    toolbox.close().await;
    ledger.flush().await;
    served.map(|()| ExitCode::SUCCESS).map_err(|error| Failure::new(Code::ActionFailed, error))
}

/// Hosts end servers by closing their input, by SIGINT or by SIGTERM.
#[cfg(unix)]
fn stop_on_signals(stop: &CancellationToken) -> Result<(), Failure> {
    use tokio::signal::unix::{SignalKind, signal};
    for kind in [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()] {
        let stop = stop.clone();
        let mut signals = signal(kind)
            .map_err(|error| Failure::new(Code::ActionFailed, format_args!("signals cannot be handled: {error}")))?;
        tokio::spawn(async move {
            signals.recv().await;
            stop.cancel();
        });
    }
    Ok(())
}

#[cfg(not(unix))]
fn stop_on_signals(stop: &CancellationToken) -> Result<(), Failure> {
    let stop = stop.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            stop.cancel();
        }
    });
    Ok(())
}
