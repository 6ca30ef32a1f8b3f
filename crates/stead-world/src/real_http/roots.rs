//! Certificate authorities: a PEM file that a request or `SSL_CERT_FILE` names, else those of the machine.
//!
//! The bundle of the operating system comes first, because companies add their own authorities there. A machine without a
//! bundle in a known place (Windows, an empty container) gets Mozilla's list, which is part of the binary.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::{HttpError, Variables};

/// Bundles of the operating systems: Debian and Alpine, Fedora, SUSE, macOS, FreeBSD.
const BUNDLES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/usr/local/share/certs/ca-root-nss.crt",
];

/// TLS configurations by PEM file, each made when it is needed first.
pub(super) struct Roots {
    /// `SSL_CERT_FILE`.
    own: Option<PathBuf>,
    made: Mutex<HashMap<Option<PathBuf>, Arc<ClientConfig>>>,
}

impl Roots {
    pub(super) fn new(variables: &Variables) -> Roots {
        let own = variables.get("SSL_CERT_FILE").filter(|path| !path.is_empty()).map(PathBuf::from);
        Roots { own, made: Mutex::new(HashMap::new()) }
    }

    /// Returns the configuration of a client that trusts the authorities in the PEM file, or those of the machine.
    pub(super) fn client(&self, authorities: Option<&Path>) -> Result<Arc<ClientConfig>, HttpError> {
        let file = authorities.map(Path::to_owned).or_else(|| self.own.clone());
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = made.get(&file) {
            return Ok(client.clone());
        }
        let roots = match &file {
            Some(path) => {
                from_file(path).map_err(|reason| HttpError::Authorities { path: path.clone(), reason })?
            }
            None => of_this_machine(),
        };
        let client = configured(roots).map_err(|reason| {
            let path = file.clone().unwrap_or_default();
            HttpError::Authorities { path, reason }
        })?;
        made.insert(file, client.clone());
        Ok(client)
    }
}

fn configured(roots: RootCertStore) -> Result<Arc<ClientConfig>, String> {
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn from_file(path: &Path) -> Result<RootCertStore, String> {
    let pem = std::fs::read(path).map_err(|error| error.to_string())?;
    let found: Result<Vec<CertificateDer<'_>>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(found.map_err(|error| error.to_string())?);
    if added == 0 {
        return Err("the file has no PEM certificate of an authority".to_owned());
    }
    Ok(roots)
}

fn of_this_machine() -> RootCertStore {
    let mut bundles = BUNDLES.iter().filter_map(|path| from_file(Path::new(path)).ok());
    bundles.next().unwrap_or_else(|| RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_without_certificates_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ca.pem");
        let roots = Roots::new(&Variables::default());
        for text in [None, Some("no certificate")] {
            if let Some(text) = text {
                std::fs::write(&path, text).unwrap();
            }
            let error = roots.client(Some(&path)).unwrap_err();
            assert!(
                matches!(&error, HttpError::Authorities { path: named, .. } if *named == path),
                "{error}"
            );
        }
    }

    #[test]
    fn machine_has_authorities_and_they_are_loaded_once() {
        let roots = Roots::new(&Variables::default());
        let first = roots.client(None).unwrap();
        assert!(Arc::ptr_eq(&first, &roots.client(None).unwrap()));
        assert!(!of_this_machine().is_empty());
    }
}
