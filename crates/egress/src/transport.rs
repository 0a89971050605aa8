//! What a connection runs over: TCP, or TLS to a proxy of the operator's.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tokio_rustls::{TlsConnector, rustls};

/// A stream to a site or a proxy.
#[derive(Debug)]
pub(crate) enum Transport {
    Tcp(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Transport {
    /// The TCP stream below.
    pub(crate) fn tcp(&self) -> &TcpStream {
        match self {
            Self::Tcp(stream) => stream,
            Self::Tls(stream) => stream.get_ref().0,
        }
    }
}

/// Whose certificates an HTTPS proxy may show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ProxyTrust {
    /// Those of the authorities that the system trusts; `SSL_CERT_FILE` and `SSL_CERT_DIR` replace them.
    #[default]
    System,
    /// Those of these authorities alone, each in DER.
    Authorities(Vec<Vec<u8>>),
}

/// Speaks TLS to a proxy that is called `name`.
pub(crate) async fn secure(stream: TcpStream, name: &str, trust: &ProxyTrust) -> Result<Transport, String> {
    let roots = match trust {
        // The system's are many files, read anew each time: they change, and connections to proxies are kept.
        ProxyTrust::System => tokio::task::spawn_blocking(|| rustls_native_certs::load_native_certs().certs)
            .await
            .map_err(|error| error.to_string())?,
        ProxyTrust::Authorities(certificates) => {
            certificates.iter().map(|bytes| CertificateDer::from(bytes.clone())).collect()
        }
    };
    let mut store = RootCertStore::empty();
    // One that cannot be read is one that vouches for nobody.
    let (usable, _) = store.add_parsable_certificates(roots);
    if usable == 0 {
        return Err("no certificate authority is trusted on this machine; install ca-certificates".to_owned());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(store)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let name = ServerName::try_from(name.to_owned()).map_err(|error| error.to_string())?;
    let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await;
    stream.map(|stream| Transport::Tls(Box::new(stream))).map_err(|error| format!("no secure connection: {error}"))
}

impl AsyncRead for Transport {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_read(context, buffer),
            Self::Tls(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Transport {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write_vectored(context, slices),
            Self::Tls(stream) => Pin::new(stream).poll_write_vectored(context, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Tcp(stream) => stream.is_write_vectored(),
            Self::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_flush(context),
            Self::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
