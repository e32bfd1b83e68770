//! TLS to a PostgreSQL server: whether it is requested, and what is verified, by the `sslmode` of the URL.
//! <https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-SSL>

use std::path::PathBuf;
use std::sync::Arc;

use sqlx::ConnectOptions;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error as TlsError, RootCertStore, SignatureScheme,
};

/// The request for TLS: the message length and the request code.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// The prefix with which the driver displays the path of an options file.
const FILE: &str = "file: ";

/// A connection to the server, with or without TLS.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// The protection of the connection to a server.
#[derive(Clone)]
pub(super) struct TlsSettings {
    mode: PgSslMode,
    host: String,
    root: Option<Pem>,
    certificate: Option<Pem>,
    key: Option<Pem>,
}

/// Certificates or a key.
#[derive(Clone)]
enum Pem {
    Text(String),
    File(PathBuf),
}

impl TlsSettings {
    /// Reads the settings of the URL and the environment, as the driver does.
    pub(super) fn new(options: &PgConnectOptions) -> Self {
        // The driver exposes certificates only in a URL, and panics if the name or the host has special characters.
        let url = options.clone().username("user").host("host").to_url_lossy();
        let pem = |name: &str| {
            let (_, value) = url.query_pairs().find(|(key, _)| key == name)?;
            Some(match value.strip_prefix(FILE) {
                Some(path) => Pem::File(path.into()),
                None => Pem::Text(value.into_owned()),
            })
        };
        TlsSettings {
            mode: options.get_ssl_mode(),
            // An IPv6 address has brackets in a URL.
            host: options.get_host().trim_matches(['[', ']']).to_owned(),
            root: pem("sslrootcert"),
            certificate: pem("sslcert"),
            key: pem("sslkey"),
        }
    }

    /// Returns the connection with TLS, if the settings ask for it and the server offers it.
    pub(super) async fn upgrade(&self, mut stream: impl Stream + 'static) -> Result<Box<dyn Stream>, sqlx::Error> {
        let is_required = match self.mode {
            // Like sqlx, which does not retry with TLS after a plain connection has failed.
            PgSslMode::Disable | PgSslMode::Allow => return Ok(Box::new(stream)),
            PgSslMode::Prefer => false,
            PgSslMode::Require | PgSslMode::VerifyCa | PgSslMode::VerifyFull => true,
        };
        stream.write_all(&SSL_REQUEST).await?;
        stream.flush().await?;
        // Exactly one byte: everything after it must be encrypted.
        match stream.read_u8().await? {
            b'S' => {}
            b'N' if is_required => return Err(sqlx::Error::Tls("the server does not support TLS".into())),
            b'N' => return Ok(Box::new(stream)),
            other => {
                return Err(sqlx::Error::Protocol(format!("unexpected response to the request for TLS: {other:#04x}")));
            }
        }
        let config = self.config().await?;
        let host = ServerName::try_from(self.host.clone()).map_err(|error| sqlx::Error::Tls(error.into()))?;
        Ok(Box::new(TlsConnector::from(Arc::new(config)).connect(host, stream).await?))
    }

    async fn config(&self) -> Result<ClientConfig, sqlx::Error> {
        let tls = |error: TlsError| sqlx::Error::Tls(error.into());
        let provider = Arc::new(aws_lc_rs::default_provider());
        let chain = match self.mode {
            PgSslMode::VerifyCa | PgSslMode::VerifyFull => {
                let roots = Arc::new(self.roots().await?);
                let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider.clone()).build();
                Some(verifier.map_err(|error| sqlx::Error::Tls(error.into()))?)
            }
            PgSslMode::Disable | PgSslMode::Allow | PgSslMode::Prefer | PgSslMode::Require => None,
        };
        let is_any_host = !matches!(self.mode, PgSslMode::VerifyFull);
        let verifier = Verifier { chain, is_any_host, provider: provider.clone() };
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(tls)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        match (&self.certificate, &self.key) {
            (Some(certificate), Some(key)) => {
                let (chain, key) = (certificate.certificates().await?, key.key().await?);
                config.with_client_auth_cert(chain, key).map_err(tls)
            }
            (None, None) => Ok(config.with_no_client_auth()),
            _ => Err(sqlx::Error::Configuration("`sslcert` and `sslkey` must be given together".into())),
        }
    }

    /// Returns the trusted authorities: the public ones, and those of `sslrootcert`.
    async fn roots(&self) -> Result<RootCertStore, sqlx::Error> {
        let mut roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        if let Some(own) = &self.root {
            for certificate in own.certificates().await? {
                roots.add(certificate).map_err(|error| sqlx::Error::Tls(error.into()))?;
            }
        }
        Ok(roots)
    }
}

impl Pem {
    async fn bytes(&self) -> Result<Vec<u8>, sqlx::Error> {
        match self {
            Pem::Text(text) => Ok(text.clone().into_bytes()),
            Pem::File(path) => {
                let unreadable =
                    |error| sqlx::Error::Configuration(format!("cannot read {}: {error}", path.display()).into());
                tokio::fs::read(path).await.map_err(unreadable)
            }
        }
    }

    /// Returns the error of content that cannot be parsed, without showing the content.
    fn error(&self, what: &str) -> sqlx::Error {
        let place = match self {
            Pem::Text(_) => "the text".to_owned(),
            Pem::File(path) => path.display().to_string(),
        };
        sqlx::Error::Configuration(format!("{place} has no {what} in PEM").into())
    }

    async fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, sqlx::Error> {
        let bytes = self.bytes().await?;
        let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
        found.map_err(|_| self.error("certificate"))
    }

    async fn key(&self) -> Result<PrivateKeyDer<'static>, sqlx::Error> {
        PrivateKeyDer::from_pem_slice(&self.bytes().await?).map_err(|_| self.error("private key"))
    }
}

/// Verifies certificates as required by the mode. Without authorities any certificate is accepted: the connection is then
/// protected against passive eavesdropping only.
#[derive(Debug)]
struct Verifier {
    chain: Option<Arc<WebPkiServerVerifier>>,
    is_any_host: bool,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        match chain.verify_server_cert(certificate, intermediates, host, ocsp, now) {
            Err(TlsError::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.is_any_host => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        verify_tls12_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use super::*;

    #[test]
    fn finds_certificates_of_a_url() {
        let check = |url: &str, host: &str, root: Option<&str>| {
            let settings = TlsSettings::new(&PgConnectOptions::from_str(url).unwrap());
            assert!(settings.host.ends_with(host), "{url}: {}", settings.host);
            let path = settings.root.map(|root| match root {
                Pem::File(path) => path.display().to_string(),
                Pem::Text(text) => text,
            });
            assert_eq!(path.as_deref(), root, "{url}");
        };
        check("postgres://h/d", "h", None);
        check("postgres://a%2Fb%40c:p%23@[::1]:1/d%2Fe?sslrootcert=/a%20b/c.pem", "::1", Some("/a b/c.pem"));
        check("postgres://h/d?hostaddr=::1&ssl-ca=c.pem", "::1", Some("c.pem"));
        // The host is the local machine.
        check("postgres://%2Frun/d?ssl-root-cert=c.pem&user=x%2Fy", "", Some("c.pem"));
    }
}
