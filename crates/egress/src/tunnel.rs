//! Bytes from one side to the other, and an account of them.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncWriteExt as _, copy_bidirectional_with_sizes};

use crate::account::Account;
use crate::exchange::Exchange;
use crate::failure::{Code, Failure};
use crate::stream::Metered;

/// Bytes that one direction of a tunnel reads at a time; a tunnel holds two such buffers.
const BUFFER: usize = 32 * 1024;

/// The far side of a tunnel.
pub(crate) enum Site {
    /// A fresh connection.
    Stream(Metered),
    /// A connection on which the site has agreed to switch protocols.
    Upgrade(OnUpgrade),
}

/// Joins the two sides until both have ended, one breaks, nothing moves for too long, or the assignment ends.
/// `exchange` counts as an open connection of its door as long as the tunnel lives.
pub(crate) async fn join(exchange: Arc<Exchange>, client: OnUpgrade, site: Site, mut account: Account) {
    let outcome = tokio::select! {
        biased;
        () = exchange.assignment.ended.cancelled() => {
            Err(Failure::new(Code::Closed, "the session ended, or was given another policy"))
        }
        outcome = pass(&exchange, client, site) => outcome,
    };
    account.settle(outcome.as_ref().copied());
}

async fn pass(exchange: &Exchange, client: OnUpgrade, site: Site) -> Result<(), Failure> {
    let broken = |error: &dyn std::fmt::Display| Failure::new(Code::Closed, format_args!("the tunnel broke: {error}"));
    let (mut client, client_ahead) = take(client).await.map_err(|error| broken(&error))?;
    let (mut site, site_ahead) = match site {
        Site::Stream(stream) => (stream, Bytes::new()),
        Site::Upgrade(upgrade) => take(upgrade).await.map_err(|error| broken(&error))?,
    };
    let meter = site.meter();
    let patience = exchange.limits().idle_timeout;
    let copying = async {
        // What either side had sent beyond its head.
        site.write_all(&client_ahead).await?;
        client.write_all(&site_ahead).await?;
        copy_bidirectional_with_sizes(&mut client, &mut site, BUFFER, BUFFER).await
    };
    tokio::select! {
        copied = copying => copied.map(drop).map_err(|error| broken(&error)),
        () = meter.silent_for(patience) => {
            Err(Failure::new(Code::LimitReached, format_args!("the tunnel was silent for {patience:?}")))
        }
    }
}

async fn take(upgrade: OnUpgrade) -> io::Result<(Metered, Bytes)> {
    let upgraded: Upgraded = upgrade.await.map_err(io::Error::other)?;
    let parts = upgraded
        .downcast::<TokioIo<Metered>>()
        .map_err(|_| io::Error::other("the upgraded connection is of another kind"))?;
    Ok((parts.io.into_inner(), parts.read_buf))
}
