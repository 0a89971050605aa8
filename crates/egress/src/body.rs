//! Bodies on their way to the browser.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body_util::{Either, Empty, Full};
use hyper::body::{Body, Frame, Incoming, SizeHint};

use crate::account::Account;
use crate::exchange::Exchange;
use crate::failure::{Code, Failure};
use crate::pool::Lease;

/// What is sent to a site: the browser's body as it comes, or none.
pub(crate) type Outgoing = Either<Incoming, Empty<Bytes>>;

/// What is sent to the browser.
pub(crate) enum GateBody {
    Own(Full<Bytes>),
    Site(Box<SiteBody>),
}

impl GateBody {
    pub(crate) fn empty() -> Self {
        Self::Own(Full::default())
    }

    pub(crate) fn own(text: String) -> Self {
        Self::Own(Full::from(text))
    }
}

/// A site's body; when it ends, the account is settled and the connection goes back to the pool.
pub(crate) struct SiteBody {
    body: Incoming,
    account: Account,
    lease: Option<Lease>,
    exchange: Arc<Exchange>,
}

impl SiteBody {
    pub(crate) fn new(body: Incoming, account: Account, lease: Lease, exchange: Arc<Exchange>) -> Self {
        Self { body, account, lease: Some(lease), exchange }
    }

    fn finish(&mut self) {
        self.account.settle(Ok(()));
        if let Some(lease) = self.lease.take() {
            self.exchange.give_back(lease);
        }
    }
}

impl Body for GateBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let site = match self.get_mut() {
            Self::Own(body) => {
                return Pin::new(body).poll_frame(context).map_err(|never| match never {});
            }
            Self::Site(site) => site,
        };
        match ready!(Pin::new(&mut site.body).poll_frame(context)) {
            // Trailers stay behind, as the `Trailer` header did.
            Some(Ok(frame)) if frame.is_trailers() => {
                site.finish();
                Poll::Ready(None)
            }
            Some(Ok(frame)) => Poll::Ready(Some(Ok(frame))),
            Some(Err(error)) => {
                let failure = Failure::new(Code::BrokenResponse, format_args!("the answer broke off: {error}"));
                site.account.settle(Err(&failure));
                Poll::Ready(Some(Err(error)))
            }
            None => {
                site.finish();
                Poll::Ready(None)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Own(body) => body.is_end_stream(),
            Self::Site(site) => site.body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Own(body) => body.size_hint(),
            Self::Site(site) => site.body.size_hint(),
        }
    }
}

impl Drop for SiteBody {
    fn drop(&mut self) {
        // A body of known length is not asked again after its last byte.
        if self.body.is_end_stream() {
            self.finish();
        }
        self.exchange.head_begins();
    }
}
