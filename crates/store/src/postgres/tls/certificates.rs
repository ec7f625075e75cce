//! Certificates of servers: by whom they have to be signed, and for which name.

use std::{path::Path, sync::Arc};

use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    crypto::CryptoProvider,
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject as _},
    server::ParsedCertificate,
};

use super::{
    Mode,
    settings::{Roots, TlsSettings},
};
use crate::error::{Error, Result};

/// Returns the client side of TLS.
pub(super) fn client(settings: &TlsSettings) -> Result<ClientConfig> {
    // Ring is named here, because more than one provider may be linked and none is the default.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = match &settings.roots {
        None => Arc::new(Unchecked(provider.clone())),
        Some(roots) => Arc::new(Checked::new(roots, settings.mode == Mode::VerifyFull, &provider)?),
    };
    Ok(ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(Error::defect)?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth())
}

fn load(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let failed =
        |why: String| Error::Schema(format!("sslrootcert of DATABASE_URL: {}: {why}", path.display()));
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let certificates = read.map_err(|e| failed(e.to_string()))?;
    if certificates.is_empty() {
        return Err(failed("has no certificate (PEM)".to_owned()));
    }
    Ok(certificates)
}

/// Encrypts without knowing who answers.
#[derive(Debug)]
struct Unchecked(Arc<CryptoProvider>);

impl ServerCertVerifier for Unchecked {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    // The key proves nothing where anybody's key will do.
    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Checks who signed the certificate, and where it is wanted the name.
#[derive(Debug)]
struct Checked {
    by_authority: Arc<dyn ServerCertVerifier>,
    /// Certificates that the operator has named one by one.
    named: Vec<CertificateDer<'static>>,
    checks_name: bool,
}

impl Checked {
    fn new(roots: &Roots, checks_name: bool, provider: &Arc<CryptoProvider>) -> Result<Self> {
        let unusable = |why: String| {
            Error::Schema(format!(
                "the certificates of authorities cannot be used ({why}): set sslrootcert=FILE in DATABASE_URL"
            ))
        };
        let (by_authority, named): (Arc<dyn ServerCertVerifier>, _) = match roots {
            Roots::System => {
                let verifier = rustls_platform_verifier::Verifier::new(provider.clone());
                (
                    Arc::new(verifier.map_err(|e| unusable(e.to_string()))?),
                    Vec::new(),
                )
            }
            Roots::File(path) => {
                let certificates = load(path)?;
                let mut store = RootCertStore::empty();
                store.add_parsable_certificates(certificates.iter().cloned());
                let verifier = WebPkiServerVerifier::builder_with_provider(store.into(), provider.clone());
                let verifier = verifier.build().map_err(|e| unusable(e.to_string()))?;
                (verifier, certificates)
            }
        };
        Ok(Self {
            by_authority,
            named,
            checks_name,
        })
    }
}

impl ServerCertVerifier for Checked {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        use rustls::Error::InvalidCertificate;
        let checked = self
            .by_authority
            .verify_server_cert(own, between, name, ocsp, now);
        match checked {
            // The name is looked at last.
            Err(InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.checks_name => Ok(ServerCertVerified::assertion()),
            // A certificate that signs itself is usually made as one of an authority, which no server may have by the rules of the web.
            // Its time has been looked at by then.
            Err(InvalidCertificate(CertificateError::Other(_)))
                if self.named.iter().any(|named| named == own) =>
            {
                if self.checks_name {
                    verify_server_name(&ParsedCertificate::try_from(own)?, name)?;
                }
                Ok(ServerCertVerified::assertion())
            }
            checked => checked,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.by_authority
            .verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.by_authority
            .verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.by_authority.supported_verify_schemes()
    }
}
