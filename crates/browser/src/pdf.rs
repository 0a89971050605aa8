//! Pages as PDF.

use std::io::Write;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bathy_cdp::Session;
use bathy_cdp::protocol::StreamHandle;
use bathy_cdp::protocol::io::{Close, Read};
use bathy_cdp::protocol::page::PrintToPdf;

use crate::artifact::ArtifactName;
use crate::{Deadline, Error, Tab};

/// Bytes that are read of the document at a time.
const PIECE: u32 = 256 * 1024;
/// The largest document in bytes.
const LIMIT: usize = 200_000_000;

/// A page as PDF.
#[derive(Debug, Clone)]
pub struct Pdf {
    /// Where it was written.
    pub path: PathBuf,
    /// The URL of the page.
    pub url: String,
    /// Its title, raw text of the page.
    pub title: String,
}

impl Tab {
    /// Prints the page to a PDF and writes it as an artifact.
    ///
    /// # Errors
    /// [`Error::Artifact`], [`Error::TimedOut`], [`Error::OffPolicy`], [`Error::DialogOpen`], [`Error::Unconcealed`] for
    /// a page that has in it what must not be seen.
    pub async fn pdf(&self, deadline: Deadline) -> Result<Pdf, Error> {
        self.enter(deadline).await?;
        let conceal = self.charter().conceal.clone();
        if let Some(conceal) = &conceal {
            conceal.check_print(self, deadline).await?;
        }
        let print = PrintToPdf {
            print_background: Some(true),
            transfer_mode: Some("ReturnAsStream".to_owned()),
            ..PrintToPdf::default()
        };
        let printed = self.page().call(print, deadline.remaining()).await?;
        let handle = printed.stream.ok_or_else(|| Error::ActionFailed("the browser printed nothing".to_owned()))?;
        let stream = Stream { session: self.page().clone(), handle };
        if let Some(conceal) = &conceal {
            // It may have come while the page was printed.
            conceal.check_print(self, deadline).await?;
        }
        let mut artifact = self.artifacts().begin(ArtifactName::fresh("page", "pdf")).await?;
        let mut size = 0;
        loop {
            let (bytes, last) = stream.next(deadline).await?;
            size += bytes.len();
            if size > LIMIT {
                return Err(Error::ActionFailed(format!("the page as PDF is larger than {LIMIT} bytes")));
            }
            let torn = |path: String, error: std::io::Error| Error::Artifact { name: path, reason: error.to_string() };
            let path = artifact.path().display().to_string();
            artifact.write_all(&bytes).map_err(|error| torn(path.clone(), error))?;
            if last {
                let path = artifact.finish().map_err(|error| torn(path, error))?;
                let (url, title) = self.entry(deadline.with_grace()).await?;
                return Ok(Pdf { path, url, title });
            }
        }
    }
}

/// A stream of the browser's, let go of with this.
struct Stream {
    session: Session,
    handle: StreamHandle,
}

impl Stream {
    /// The next bytes, and whether they are the last.
    async fn next(&self, deadline: Deadline) -> Result<(Vec<u8>, bool), Error> {
        let read = Read { handle: self.handle.clone(), size: Some(PIECE) };
        let piece = self.session.call(read, deadline.remaining()).await?;
        let bytes = if piece.base64_encoded == Some(true) {
            BASE64.decode(piece.data).map_err(|error| Error::ActionFailed(format!("the PDF is torn: {error}")))?
        } else {
            piece.data.into_bytes()
        };
        Ok((bytes, piece.eof))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.session.send(&Close { handle: self.handle.clone() });
    }
}
