//! TLS through ring: the server's certificate, reloaded when its files change, and clients for the API server.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use stead_world::{Clock, World};
use thiserror::Error;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::time_provider::TimeProvider;
use tokio_rustls::rustls::{ClientConfig, Error, RootCertStore, ServerConfig};

use crate::event::{Event, Notices};

/// Interval at which the certificate files are checked. Kubernetes takes a minute or two to update a mounted secret.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// PEM files of a certificate and its key.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

#[derive(Debug, Error)]
pub enum CertificateError {
    #[error("cannot read {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("no PEM certificate in {}", .0.display())]
    NoCertificate(PathBuf),
    #[error("no PEM private key in {}", .0.display())]
    NoKey(PathBuf),
    #[error("the certificate in {} and the key in {} cannot be used: {source}", files.certificate.display(), files.key.display())]
    Unusable { files: TlsFiles, source: Error },
}

/// Content of both files.
#[derive(Clone, PartialEq, Eq)]
struct Pem {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

/// Certificate for new connections.
pub(crate) struct Identity {
    files: TlsFiles,
    seen: Pem,
    shown: Arc<CurrentCertificate>,
}

struct CurrentCertificate(RwLock<Arc<CertifiedKey>>);

impl Identity {
    pub(crate) async fn load(world: &World, files: TlsFiles) -> Result<Identity, CertificateError> {
        let seen = read(world, &files).await?;
        let certified = certified(&files, &seen)?;
        Ok(Identity { files, seen, shown: Arc::new(CurrentCertificate(RwLock::new(Arc::new(certified)))) })
    }

    pub(crate) fn server(&self, clock: Arc<dyn Clock>) -> Result<ServerConfig, Error> {
        let mut config = ServerConfig::builder_with_details(provider(), Arc::new(WorldTime(clock)))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(self.shown.clone());
        // API servers call webhooks over HTTP/1.1.
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }

    /// Reloads the certificate whenever its files change; never returns.
    pub(crate) async fn watch(mut self, world: World, notices: Notices) {
        loop {
            world.clock.sleep(LOOK_AGAIN).await;
            let event = match self.look(&world).await {
                Ok(false) => continue,
                Ok(true) => Event::CertificateRenewed,
                Err(error) => Event::CertificateKept { reason: error.to_string() },
            };
            // The receiver is gone when the process ends.
            let _ = notices.send(event);
        }
    }

    /// Reloads the files if they changed. Unusable files are tried again the next time.
    async fn look(&mut self, world: &World) -> Result<bool, CertificateError> {
        let found = read(world, &self.files).await?;
        if found == self.seen {
            return Ok(false);
        }
        let certified = certified(&self.files, &found)?;
        *self.shown.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(certified);
        self.seen = found;
        Ok(true)
    }
}

async fn read(world: &World, files: &TlsFiles) -> Result<Pem, CertificateError> {
    let certificate = read_file(world, &files.certificate).await?;
    let key = read_file(world, &files.key).await?;
    Ok(Pem { certificate, key })
}

async fn read_file(world: &World, path: &Path) -> Result<Vec<u8>, CertificateError> {
    let owned = path.to_owned();
    let read = world.with_files(move |files| files.read(&owned)).await;
    read.map_err(|source| CertificateError::Unreadable { path: path.to_owned(), source })
}

fn certified(files: &TlsFiles, pem: &Pem) -> Result<CertifiedKey, CertificateError> {
    let chain = certificates(&pem.certificate)
        .ok_or_else(|| CertificateError::NoCertificate(files.certificate.clone()))?;
    let key =
        PrivateKeyDer::from_pem_slice(&pem.key).map_err(|_| CertificateError::NoKey(files.key.clone()))?;
    CertifiedKey::from_der(chain, key, &provider())
        .map_err(|source| CertificateError::Unusable { files: files.clone(), source })
}

/// Returns all certificates of a PEM file, or `None` if it has none or an invalid one.
pub(crate) fn certificates(pem: &[u8]) -> Option<Vec<CertificateDer<'static>>> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    found.ok().filter(|found| !found.is_empty())
}

/// Client certificate and key, as PEM.
pub(crate) struct ClientIdentity {
    pub(crate) certificate: Vec<u8>,
    pub(crate) key: Vec<u8>,
}

/// Returns the configuration of a client that trusts the given CA, or the reason why the PEM files cannot be used.
pub(crate) fn client(
    clock: Arc<dyn Clock>,
    ca: &[u8],
    own: Option<ClientIdentity>,
) -> Result<ClientConfig, String> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(ca).ok_or("the certificate authority is not a PEM certificate")? {
        roots
            .add(certificate)
            .map_err(|error| format!("the certificate authority cannot be used: {error}"))?;
    }
    let builder = ClientConfig::builder_with_details(provider(), Arc::new(WorldTime(clock)))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots);
    let Some(ClientIdentity { certificate, key }) = own else { return Ok(builder.with_no_client_auth()) };
    let chain = certificates(&certificate).ok_or("the client certificate is not a PEM certificate")?;
    let key = PrivateKeyDer::from_pem_slice(&key).map_err(|_| "the client key is not a PEM private key")?;
    builder
        .with_client_auth_cert(chain, key)
        .map_err(|error| format!("the client certificate cannot be used: {error}"))
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

impl ResolvesServerCert for CurrentCertificate {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.read().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

impl fmt::Debug for CurrentCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CurrentCertificate")
    }
}

/// Adapter that checks the validity of certificates with the world's clock.
struct WorldTime(Arc<dyn Clock>);

impl TimeProvider for WorldTime {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(Duration::from_millis(self.0.now().0)))
    }
}

impl fmt::Debug for WorldTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WorldTime")
    }
}
