//! Standard input and output, with a place in the owner's line for each call as it is read.
//!
//! The SDK handles each request in a task of its own, so the order in which handlers begin is nobody's. Taking the
//! place here, where messages arrive one by one, makes calls of one session run in the order in which they were sent.

use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use bathy_tools::{Owner, Place};
use rmcp::RoleServer;
use rmcp::model::{ClientRequest, Extensions, JsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::{StdioReader, StdioWriter, Transport};

/// The longest message that is taken, in bytes. Longer ones are dropped by the SDK with a note in the log.
const MAXIMUM_LINE: usize = 4 << 20;

/// A transport that gives each call its place.
pub(crate) struct Ordered {
    owner: Owner,
    lines: AsyncRwTransport<RoleServer, StdioReader, StdioWriter>,
}

impl Ordered {
    pub(crate) fn new(owner: Owner, input: StdioReader, output: StdioWriter) -> Self {
        Self { owner, lines: AsyncRwTransport::new_server(input, output).with_max_line_length(MAXIMUM_LINE) }
    }
}

/// A call's place on its way through the SDK, whose extensions must be clonable.
#[derive(Clone)]
struct Carried(Arc<Mutex<Option<Place>>>);

/// Takes the place out that the transport put in.
pub(crate) fn place_of(extensions: &Extensions) -> Option<Place> {
    let carried = extensions.get::<Carried>()?;
    carried.0.lock().unwrap_or_else(PoisonError::into_inner).take()
}

impl Transport<RoleServer> for Ordered {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.lines.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let mut message = self.lines.receive().await?;
        if let JsonRpcMessage::Request(request) = &mut message
            && let ClientRequest::CallToolRequest(call) = &mut request.request
        {
            call.extensions.insert(Carried(Arc::new(Mutex::new(Some(self.owner.place())))));
        }
        Some(message)
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.lines.close().await
    }
}
