//! Passkeys: checks of a browser's answers to Web Authentication, Level 3. A new passkey is checked by section 7.1
//! ("Registering a New Credential"), a sign-in by section 7.2 ("Verifying an Authentication Assertion"). Both come as
//! the JSON that `toJSON()` of a credential gives (section 5.1), and hold the data of section 5.8.1 (client data) and
//! section 6.1 (authenticator data).
//!
//! Attestation is `none`: nothing vouches for the maker of a device. So neither the attestation object nor any other
//! CBOR is read, and the public key is the one that the browser gives as `SubjectPublicKeyInfo`. No signature covers
//! either of them, and who sends another key than the device's gets a passkey of that key, for their own account.
//!
//! The device must verify its user (PIN, fingerprint, face), as a passkey stands for a password and a second factor.
//! The caller sees to what needs memory: that a challenge is its own, young and used once, that a credential id is
//! stored for one account only, and that a user handle is the one of that account.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ED25519, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey, VerificationAlgorithm,
};
use serde::{Deserialize, Deserializer, de};
use sha2::{Digest, Sha256};

/// Bytes that an answer of a browser may have.
pub const ANSWER_MAX: usize = 16 * 1024;

/// Algorithms to offer at registration as `alg` of `pubKeyCredParams`, best first: ES256, `EdDSA`, and RS256, which
/// Windows Hello needs. The numbers are those of the COSE registry.
pub const ALGORITHMS: [i64; 3] = [ES256, EDDSA, RS256];

/// Bytes that a credential id may have (section 4).
const CREDENTIAL_ID_MAX: usize = 1023;
/// Bytes that a user handle may have (section 4).
const USER_HANDLE_MAX: usize = 64;

const ES256: i64 = -7;
const EDDSA: i64 = -8;
const RS256: i64 = -257;

/// Cause that an answer of a browser is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PasskeyFault {
    /// It is longer than [`ANSWER_MAX`].
    #[error("the answer is longer than 16 KiB")]
    TooLong,
    /// It is no JSON of the standard's form, or something in it is cut off or too long.
    #[error("the answer cannot be read")]
    Unreadable,
    /// It makes a passkey where one is to sign in, or the other way round.
    #[error("the answer is to another kind of request")]
    Kind,
    /// Its challenge is not the one that was given out.
    #[error("the answer is to another challenge")]
    Challenge,
    /// The page that asked for it is at another address.
    #[error("the answer is for another address")]
    Origin,
    /// The page that asked for it is inside a page of another site.
    #[error("the answer comes from a page inside another site's page")]
    Framed,
    /// The device made it for another relying party.
    #[error("the answer is for the passkeys of another site")]
    RelyingParty,
    /// Nobody touched the device.
    #[error("the device did not see that anybody was there")]
    NotPresent,
    /// The device asked for no PIN, fingerprint or face.
    #[error("the device did not check who is using it")]
    NotVerified,
    /// It says that a passkey is backed up that cannot be.
    #[error("the device contradicts itself about the passkey's backup")]
    Backup,
    /// The id is empty, too long, or not the one in the data of the device.
    #[error("the id of the passkey is not valid")]
    CredentialId,
    /// The algorithm is none of [`ALGORITHMS`].
    #[error("the passkey signs by an algorithm that this server does not support")]
    Algorithm,
    /// The public key is not one of its algorithm.
    #[error("the public key of the passkey is not valid")]
    PublicKey,
    /// The signature is not by the passkey, or is over something else.
    #[error("the signature is not by this passkey")]
    Signature,
}

/// The server, as browsers and devices know it.
#[derive(Clone, Copy, Debug)]
pub struct RelyingParty<'a> {
    /// The domain that the passkeys belong to: the host of `origin`, or a domain above it.
    pub id: &'a str,
    /// The server's pages: scheme, host and, unless it is the usual one, port. `https://seo.example.com`.
    pub origin: &'a str,
}

/// A passkey to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPasskey {
    /// Its name to the device: 1 to 1023 bytes. One that is stored already, for any account, has to be refused.
    pub credential_id: Vec<u8>,
    /// Its public key: DER of `SubjectPublicKeyInfo`.
    pub public_key: Vec<u8>,
    /// Its algorithm, one of [`ALGORITHMS`].
    pub algorithm: i64,
    /// Count of its signatures, always 0 if the device does not count.
    pub sign_count: u32,
}

/// An answer to a request to sign in. Nothing of it is true until [`Assertion::verify`] says so.
#[derive(Clone, Debug)]
pub struct Assertion {
    /// The passkey that claims to have signed.
    pub credential_id: Vec<u8>,
    /// The account as the passkey knows it: `user.id` of its registration. No signature covers it, so the account is
    /// the one that the passkey is stored for, and this must be the same.
    pub user_handle: Option<Vec<u8>>,
    client_data: Vec<u8>,
    authenticator_data: Vec<u8>,
    signature: Vec<u8>,
}

/// The challenge that an answer of either kind claims to be to: enough to look up the one that was given out, and
/// worth nothing until [`register`] or [`Assertion::verify`] accepts the answer.
pub fn claimed_challenge(json: &str) -> Result<Vec<u8>, PasskeyFault> {
    let response = CredentialJson::read(json)?.response;
    Ok(ClientData::read(&response.client_data.0)?.challenge.0)
}

/// Verifies an answer to a request for a new passkey (section 7.1).
pub fn register(json: &str, challenge: &[u8], rp: &RelyingParty) -> Result<NewPasskey, PasskeyFault> {
    let CredentialJson { raw_id, response, .. } = CredentialJson::read(json)?;
    ClientData::read(&response.client_data.0)?.check("webauthn.create", challenge, rp)?;
    let data = AuthenticatorData::read(&response.authenticator_data.0)?;
    data.check(rp)?;
    if data.attested_id()? != raw_id.0 {
        return Err(PasskeyFault::CredentialId);
    }
    let algorithm = response.public_key_algorithm.ok_or(PasskeyFault::Unreadable)?;
    // A browser leaves out the key if it does not know the algorithm.
    let public_key = response.public_key.ok_or(PasskeyFault::Algorithm)?.0;
    verifying_key(algorithm, &public_key)?;
    Ok(NewPasskey {
        credential_id: raw_id.0,
        public_key,
        algorithm,
        sign_count: data.sign_count,
    })
}

/// Reads an answer to a request to sign in, to be verified by the key that is stored for its credential id.
pub fn assertion(json: &str) -> Result<Assertion, PasskeyFault> {
    let CredentialJson { raw_id, response, .. } = CredentialJson::read(json)?;
    // Some devices give an empty handle for none.
    let user_handle = response
        .user_handle
        .map(|handle| handle.0)
        .filter(|handle| !handle.is_empty());
    if user_handle
        .as_ref()
        .is_some_and(|handle| handle.len() > USER_HANDLE_MAX)
    {
        return Err(PasskeyFault::Unreadable);
    }
    Ok(Assertion {
        credential_id: raw_id.0,
        user_handle,
        client_data: response.client_data.0,
        authenticator_data: response.authenticator_data.0,
        signature: response.signature.ok_or(PasskeyFault::Unreadable)?.0,
    })
}

impl Assertion {
    /// Verifies the answer (section 7.2) by the key and algorithm that are stored for the passkey, and gives the new
    /// sign count. If that is not above the stored one, and not both are 0, there may be a copy of the passkey.
    pub fn verify(
        &self,
        challenge: &[u8],
        rp: &RelyingParty,
        public_key: &[u8],
        algorithm: i64,
    ) -> Result<u32, PasskeyFault> {
        ClientData::read(&self.client_data)?.check("webauthn.get", challenge, rp)?;
        let data = AuthenticatorData::read(&self.authenticator_data)?;
        data.check(rp)?;
        let mut signed = self.authenticator_data.clone();
        signed.extend_from_slice(&Sha256::digest(&self.client_data));
        verifying_key(algorithm, public_key)?
            .verify(&signed, &self.signature)
            .map_err(|_| PasskeyFault::Signature)?;
        Ok(data.sign_count)
    }
}

/// Bytes written as base64url without padding, in exactly one way.
struct Base64(Vec<u8>);

impl<'de> Deserialize<'de> for Base64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        URL_SAFE_NO_PAD.decode(text).map(Self).map_err(de::Error::custom)
    }
}

/// `RegistrationResponseJSON` or `AuthenticationResponseJSON`: client data says which, and is checked for it.
#[derive(Deserialize)]
struct CredentialJson {
    #[serde(rename = "rawId")]
    raw_id: Base64,
    #[serde(rename = "type")]
    kind: String,
    response: Response,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    #[serde(rename = "clientDataJSON")]
    client_data: Base64,
    authenticator_data: Base64,
    public_key: Option<Base64>,
    public_key_algorithm: Option<i64>,
    signature: Option<Base64>,
    user_handle: Option<Base64>,
}

impl CredentialJson {
    fn read(json: &str) -> Result<Self, PasskeyFault> {
        if json.len() > ANSWER_MAX {
            return Err(PasskeyFault::TooLong);
        }
        let credential: Self = serde_json::from_str(json).map_err(|_| PasskeyFault::Unreadable)?;
        if credential.kind != "public-key" {
            return Err(PasskeyFault::Unreadable);
        }
        if !(1..=CREDENTIAL_ID_MAX).contains(&credential.raw_id.0.len()) {
            return Err(PasskeyFault::CredentialId);
        }
        Ok(credential)
    }
}

/// `CollectedClientData` (section 5.8.1): the browser's own view of the request.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClientData {
    #[serde(rename = "type")]
    kind: String,
    challenge: Base64,
    origin: String,
    cross_origin: Option<bool>,
    top_origin: Option<de::IgnoredAny>,
}

impl ClientData {
    fn read(bytes: &[u8]) -> Result<Self, PasskeyFault> {
        serde_json::from_slice(bytes).map_err(|_| PasskeyFault::Unreadable)
    }

    fn check(&self, kind: &str, challenge: &[u8], rp: &RelyingParty) -> Result<(), PasskeyFault> {
        if self.kind != kind {
            return Err(PasskeyFault::Kind);
        }
        if self.challenge.0 != challenge {
            return Err(PasskeyFault::Challenge);
        }
        if self.origin != rp.origin {
            return Err(PasskeyFault::Origin);
        }
        // A top origin is given only to a page that is inside one of another origin.
        if self.cross_origin == Some(true) || self.top_origin.is_some() {
            return Err(PasskeyFault::Framed);
        }
        Ok(())
    }
}

const USER_PRESENT: u8 = 1 << 0;
const USER_VERIFIED: u8 = 1 << 2;
const BACKUP_ELIGIBLE: u8 = 1 << 3;
const BACKED_UP: u8 = 1 << 4;
const ATTESTED: u8 = 1 << 6;
const EXTENDED: u8 = 1 << 7;

/// Authenticator data (section 6.1): the device's own view of the request.
struct AuthenticatorData<'a> {
    rp_id_hash: [u8; 32],
    flags: u8,
    sign_count: u32,
    /// Attested credential data and extensions, if the flags say that there are any.
    rest: &'a [u8],
}

impl<'a> AuthenticatorData<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, PasskeyFault> {
        let data = Self::split(bytes).ok_or(PasskeyFault::Unreadable)?;
        if data.has(ATTESTED) || data.has(EXTENDED) || data.rest.is_empty() {
            Ok(data)
        } else {
            Err(PasskeyFault::Unreadable)
        }
    }

    fn split(bytes: &'a [u8]) -> Option<Self> {
        let (rp_id_hash, bytes) = bytes.split_first_chunk()?;
        let (flags, bytes) = bytes.split_first()?;
        let (sign_count, rest) = bytes.split_first_chunk()?;
        Some(Self {
            rp_id_hash: *rp_id_hash,
            flags: *flags,
            sign_count: u32::from_be_bytes(*sign_count),
            rest,
        })
    }

    fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    fn check(&self, rp: &RelyingParty) -> Result<(), PasskeyFault> {
        if self.rp_id_hash[..] != Sha256::digest(rp.id)[..] {
            return Err(PasskeyFault::RelyingParty);
        }
        if !self.has(USER_PRESENT) {
            return Err(PasskeyFault::NotPresent);
        }
        if !self.has(USER_VERIFIED) {
            return Err(PasskeyFault::NotVerified);
        }
        if self.has(BACKED_UP) && !self.has(BACKUP_ELIGIBLE) {
            return Err(PasskeyFault::Backup);
        }
        Ok(())
    }

    /// The credential id of the attested credential data (section 6.5.1).
    fn attested_id(&self) -> Result<&'a [u8], PasskeyFault> {
        if !self.has(ATTESTED) {
            return Err(PasskeyFault::CredentialId);
        }
        let (id, key) = split_attested(self.rest).ok_or(PasskeyFault::Unreadable)?;
        if key.is_empty() {
            return Err(PasskeyFault::Unreadable);
        }
        Ok(id)
    }
}

/// The id in attested credential data, and what follows it: the key and any extensions, as CBOR.
fn split_attested(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (_model, bytes) = bytes.split_first_chunk::<16>()?;
    let (length, bytes) = bytes.split_first_chunk()?;
    bytes.split_at_checked(usize::from(u16::from_be_bytes(*length)))
}

/// The key of a `SubjectPublicKeyInfo`, ready to verify signatures by its algorithm.
fn verifying_key(algorithm: i64, spki: &[u8]) -> Result<UnparsedPublicKey<&[u8]>, PasskeyFault> {
    let (verifier, key): (&'static dyn VerificationAlgorithm, _) = match algorithm {
        ES256 => (&ECDSA_P256_SHA256_ASN1, p256_key(spki)),
        EDDSA => (&ED25519, ed25519_key(spki)),
        RS256 => (&RSA_PKCS1_2048_8192_SHA256, rsa_key(spki)),
        _ => return Err(PasskeyFault::Algorithm),
    };
    Ok(UnparsedPublicKey::new(
        verifier,
        key.ok_or(PasskeyFault::PublicKey)?,
    ))
}

/// DER before the point of a P-256 key (RFC 5480): `id-ecPublicKey`, `secp256r1`, and a bit string of 65 bytes.
const P256_PREFIX: &[u8] = &[
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86,
    0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];
/// DER before an Ed25519 key (RFC 8410).
const ED25519_PREFIX: &[u8] = &[
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];
/// `AlgorithmIdentifier` of an RSA key (RFC 8017): `rsaEncryption`, no parameters.
const RSA_ALGORITHM: &[u8] = &[
    0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00,
];

/// The uncompressed point of a P-256 key. That it is on the curve is checked with each signature.
fn p256_key(spki: &[u8]) -> Option<&[u8]> {
    spki.strip_prefix(P256_PREFIX)
        .filter(|point| point.len() == 65 && point.first() == Some(&4))
}

fn ed25519_key(spki: &[u8]) -> Option<&[u8]> {
    spki.strip_prefix(ED25519_PREFIX).filter(|key| key.len() == 32)
}

/// The `RSAPublicKey` of an RSA key, whose numbers are in the bounds that `ring` keeps to.
fn rsa_key(spki: &[u8]) -> Option<&[u8]> {
    let bit_string = der_only(SEQUENCE, spki)?.strip_prefix(RSA_ALGORITHM)?;
    let key = der_only(BIT_STRING, bit_string)?.strip_prefix(&[0])?;
    let (modulus, exponent) = der_first(INTEGER, der_only(SEQUENCE, key)?)?;
    let modulus = positive(modulus)?;
    let exponent = positive(der_only(INTEGER, exponent)?)?;
    let valid = is_odd(modulus)
        && (2048..=8192).contains(&bits(modulus))
        && is_odd(exponent)
        && (2..=33).contains(&bits(exponent));
    valid.then_some(key)
}

const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const SEQUENCE: u8 = 0x30;

/// The content of a DER value with the tag, after which nothing follows.
fn der_only(tag: u8, bytes: &[u8]) -> Option<&[u8]> {
    der_first(tag, bytes).and_then(|(content, rest)| rest.is_empty().then_some(content))
}

/// The content of a DER value with the tag, and what follows the value.
fn der_first(tag: u8, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = der_length(bytes.strip_prefix(&[tag])?)?;
    rest.split_at_checked(length)
}

/// A length below 64 KiB in its shortest form, the only one that DER allows, and what follows it.
fn der_length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (&first, rest) = bytes.split_first()?;
    let (length, rest, least) = match first {
        0..=0x7f => (usize::from(first), rest, 0),
        0x81 => rest
            .split_first()
            .map(|(&length, rest)| (usize::from(length), rest, 0x80))?,
        0x82 => rest
            .split_first_chunk()
            .map(|(&length, rest)| (usize::from(u16::from_be_bytes(length)), rest, 0x100))?,
        _ => return None,
    };
    (length >= least).then_some((length, rest))
}

/// The digits of a DER integer above 0 in its shortest form, without the zero byte that keeps it positive.
fn positive(integer: &[u8]) -> Option<&[u8]> {
    match integer {
        [0, 0x80..=0xff, ..] => integer.get(1..),
        [0x01..=0x7f, ..] => Some(integer),
        _ => None,
    }
}

/// Bits of a number whose first byte is not 0.
fn bits(digits: &[u8]) -> usize {
    let unused = digits.first().map_or(0, |first| first.leading_zeros() as usize);
    digits.len() * 8 - unused
}

fn is_odd(digits: &[u8]) -> bool {
    digits.last().is_some_and(|last| last & 1 == 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ring::signature::{Ed25519KeyPair, KeyPair};
    use serde_json::{Value, json};

    use super::*;

    const RP: RelyingParty = RelyingParty {
        id: "localhost",
        origin: "http://localhost:8471",
    };

    /// Answers of Chromium 156 (Debian 12) with its virtual device, as `JSON.stringify(credential.toJSON())` gave them.
    struct Recorded {
        algorithm: i64,
        created_for: &'static str,
        created: &'static str,
        signed_for: &'static str,
        signed: &'static str,
    }

    const RECORDED: [Recorded; 3] = [
        Recorded {
            algorithm: ES256,
            created_for: "Kq63hLj1PI8vP6Gp9_GD3zg6M0TJg_BmU3iOKXRI0b0",
            created: r#"
            {"authenticatorAttachment":"platform","clientExtensionResults":{},"id":"Hx3SCeC3N4W0IFxx2VaJjGzx
            ePLO-BWTp3UrliTZ3Eg","rawId":"Hx3SCeC3N4W0IFxx2VaJjGzxePLO-BWTp3UrliTZ3Eg","response":{"attestat
            ionObject":"o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YVikSZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2NF
            AAAAAQECAwQFBgcIAQIDBAUGBwgAIB8d0gngtzeFtCBccdlWiYxs8XjyzvgVk6d1K5Yk2dxIpQECAyYgASFYIG6RtrrboTOl
            2-0_pgq9CXZEGRWEVs7q6pz1gsI_UZ_JIlggS4Qtvzb_cH5-Ol5It7S23Le2P0s3NHtq-3D1UE94g5I","authenticatorD
            ata":"SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2NFAAAAAQECAwQFBgcIAQIDBAUGBwgAIB8d0gngtzeFtCBccd
            lWiYxs8XjyzvgVk6d1K5Yk2dxIpQECAyYgASFYIG6RtrrboTOl2-0_pgq9CXZEGRWEVs7q6pz1gsI_UZ_JIlggS4Qtvzb_cH
            5-Ol5It7S23Le2P0s3NHtq-3D1UE94g5I","clientDataJSON":"eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIiwiY2hhbGx
            lbmdlIjoiS3E2M2hMajFQSTh2UDZHcDlfR0Qzemc2TTBUSmdfQm1VM2lPS1hSSTBiMCIsIm9yaWdpbiI6Imh0dHA6Ly9sb2N
            hbGhvc3Q6ODQ3MSIsImNyb3NzT3JpZ2luIjpmYWxzZX0","publicKey":"MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEb
            pG2utuhM6Xb7T-mCr0JdkQZFYRWzurqnPWCwj9Rn8lLhC2_Nv9wfn46Xki3tLbct7Y_Szc0e2r7cPVQT3iDkg","publicKe
            yAlgorithm":-7,"transports":["internal"]},"type":"public-key"}
            "#,
            signed_for: "JvDBvH2eXawdLnLwk2GMTV1ySYk357VUATQP4gqvJY8",
            signed: r#"
            {"authenticatorAttachment":"platform","clientExtensionResults":{},"id":"Hx3SCeC3N4W0IFxx2VaJjGzx
            ePLO-BWTp3UrliTZ3Eg","rawId":"Hx3SCeC3N4W0IFxx2VaJjGzxePLO-BWTp3UrliTZ3Eg","response":{"authenti
            catorData":"SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAg","clientDataJSON":"eyJ0eXBlIjoid2
            ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoiSnZEQnZIMmVYYXdkTG5Md2syR01UVjF5U1lrMzU3VlVBVFFQNGdxdkpZOCIsIm
            9yaWdpbiI6Imh0dHA6Ly9sb2NhbGhvc3Q6ODQ3MSIsImNyb3NzT3JpZ2luIjpmYWxzZSwib3RoZXJfa2V5c19jYW5fYmVfYW
            RkZWRfaGVyZSI6ImRvIG5vdCBjb21wYXJlIGNsaWVudERhdGFKU09OIGFnYWluc3QgYSB0ZW1wbGF0ZS4gU2VlIGh0dHBzOi
            8vZ29vLmdsL3lhYlBleCJ9","signature":"MEUCIQDDnJa4Vq4h7YAY4U2_1CWeeUjRzbqTxxVrDnUoSizghgIgCl5yUsz
            ttedi1XUTxJZnYq_7_MGr0KL79HwlGLPLkmI","userHandle":"YWNjb3VudC1vbmUtMDAwMQ"},"type":"public-key"
            }
            "#,
        },
        Recorded {
            algorithm: EDDSA,
            created_for: "50O18GL1fbniZBeSiFnYI1R9UDBDSEZCR-ULdhO9l4A",
            created: r#"
            {"authenticatorAttachment":"platform","clientExtensionResults":{},"id":"qpUV_bH7IG5xh4P9C2KeGjqu
            t3gQ5SQxz-7fVRWgCkM","rawId":"qpUV_bH7IG5xh4P9C2KeGjqut3gQ5SQxz-7fVRWgCkM","response":{"attestat
            ionObject":"o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YViBSZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2NF
            AAAAAQECAwQFBgcIAQIDBAUGBwgAIKqVFf2x-yBucYeD_Qtinho6rrd4EOUkMc_u31UVoApDpAEBAycgBiFYIBn5kmE3rboH
            01zUKfSUiv3aHNyc2wSxJvPx_rvA8cX7","authenticatorData":"SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl
            2NFAAAAAQECAwQFBgcIAQIDBAUGBwgAIKqVFf2x-yBucYeD_Qtinho6rrd4EOUkMc_u31UVoApDpAEBAycgBiFYIBn5kmE3r
            boH01zUKfSUiv3aHNyc2wSxJvPx_rvA8cX7","clientDataJSON":"eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIiwiY2hhb
            GxlbmdlIjoiNTBPMThHTDFmYm5pWkJlU2lGbllJMVI5VURCRFNFWkNSLVVMZGhPOWw0QSIsIm9yaWdpbiI6Imh0dHA6Ly9sb
            2NhbGhvc3Q6ODQ3MSIsImNyb3NzT3JpZ2luIjpmYWxzZX0","publicKey":"MCowBQYDK2VwAyEAGfmSYTetugfTXNQp9JS
            K_doc3JzbBLEm8_H-u8Dxxfs","publicKeyAlgorithm":-8,"transports":["internal"]},"type":"public-key"
            }
            "#,
            signed_for: "D_gCimWZsDsnxDiTFi25YeWlK3rtvaWbWStzQx9ccB0",
            signed: r#"
            {"authenticatorAttachment":"platform","clientExtensionResults":{},"id":"qpUV_bH7IG5xh4P9C2KeGjqu
            t3gQ5SQxz-7fVRWgCkM","rawId":"qpUV_bH7IG5xh4P9C2KeGjqut3gQ5SQxz-7fVRWgCkM","response":{"authenti
            catorData":"SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAg","clientDataJSON":"eyJ0eXBlIjoid2
            ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoiRF9nQ2ltV1pzRHNueERpVEZpMjVZZVdsSzNydHZhV2JXU3R6UXg5Y2NCMCIsIm
            9yaWdpbiI6Imh0dHA6Ly9sb2NhbGhvc3Q6ODQ3MSIsImNyb3NzT3JpZ2luIjpmYWxzZSwib3RoZXJfa2V5c19jYW5fYmVfYW
            RkZWRfaGVyZSI6ImRvIG5vdCBjb21wYXJlIGNsaWVudERhdGFKU09OIGFnYWluc3QgYSB0ZW1wbGF0ZS4gU2VlIGh0dHBzOi
            8vZ29vLmdsL3lhYlBleCJ9","signature":"hCAt8M_gbAxRbDsaMEv7-lPBlXpHWBBSxuGyVEa96xAa5mAqaL8EJBnzo-_
            qlTTdIBS7_ksobmMepWrfWcpuBQ","userHandle":"YWNjb3VudC1vbmUtMDAwMQ"},"type":"public-key"}
            "#,
        },
        Recorded {
            algorithm: RS256,
            created_for: "mT703f7BfEDElX-ndgTEHKhE9YhCk6b6s8vl87SSK8E",
            created: r#"
            {"authenticatorAttachment":"platform","clientExtensionResults":{},"id":"b9n-nV3iJVfOUeXBUUyRnG12
            xs9Jt6Qiovy1sRL4WuI","rawId":"b9n-nV3iJVfOUeXBUUyRnG12xs9Jt6Qiovy1sRL4WuI","response":{"attestat
            ionObject":"o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YVkBZ0mWDeWIDoxodDQXD2R2YFuP5K65ooYyx5lc87qDHZdj
            RQAAAAEBAgMEBQYHCAECAwQFBgcIACBv2f6dXeIlV85R5cFRTJGcbXbGz0m3pCKi_LWxEvha4qQBAwM5AQAgWQEArzFhnjPh
            9TCrqWXl-xwhug-sldpNYZJVhtBakaqgrgBoqEsoFLTNMP8fjwuAKkReCdwVKapoLI7mBo3IverjBCnpe30D5Ktz1xkOJXJK
            Vwruvoue74L_5R9DLsv8RP08yNEzt28C2iljQfWed_pqMdg5zV-MsndNLJKsQsuS_QaUzeGWnhp2lwQN3ubG3ukx3fAymAGr
            14hKp0ylX5ovrcwP5xq5C8u8W4IfuFHYy1R1Ejp7aI_BKiuLls31Fav5fZoi3DY_CRq7icpgWiXdR7yszvPoioBB6E1oL0ZY
            wle_sFf4UigCZc8IHXbtnlHOicaDhs7MQI55WvOgncXuASFDAQAB","authenticatorData":"SZYN5YgOjGh0NBcPZHZgW
            4_krrmihjLHmVzzuoMdl2NFAAAAAQECAwQFBgcIAQIDBAUGBwgAIG_Z_p1d4iVXzlHlwVFMkZxtdsbPSbekIqL8tbES-Frip
            AEDAzkBACBZAQCvMWGeM-H1MKupZeX7HCG6D6yV2k1hklWG0FqRqqCuAGioSygUtM0w_x-PC4AqRF4J3BUpqmgsjuYGjci96
            uMEKel7fQPkq3PXGQ4lckpXCu6-i57vgv_lH0Muy_xE_TzI0TO3bwLaKWNB9Z53-mox2DnNX4yyd00skqxCy5L9BpTN4ZaeG
            naXBA3e5sbe6THd8DKYAavXiEqnTKVfmi-tzA_nGrkLy7xbgh-4UdjLVHUSOntoj8EqK4uWzfUVq_l9miLcNj8JGruJymBaJ
            d1HvKzO8-iKgEHoTWgvRljCV7-wV_hSKAJlzwgddu2eUc6JxoOGzsxAjnla86Cdxe4BIUMBAAE","clientDataJSON":"ey
            J0eXBlIjoid2ViYXV0aG4uY3JlYXRlIiwiY2hhbGxlbmdlIjoibVQ3MDNmN0JmRURFbFgtbmRnVEVIS2hFOVloQ2s2YjZzOH
            ZsODdTU0s4RSIsIm9yaWdpbiI6Imh0dHA6Ly9sb2NhbGhvc3Q6ODQ3MSIsImNyb3NzT3JpZ2luIjpmYWxzZX0","publicKe
            y":"MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEArzFhnjPh9TCrqWXl-xwhug-sldpNYZJVhtBakaqgrgBoqEso
            FLTNMP8fjwuAKkReCdwVKapoLI7mBo3IverjBCnpe30D5Ktz1xkOJXJKVwruvoue74L_5R9DLsv8RP08yNEzt28C2iljQfWe
            d_pqMdg5zV-MsndNLJKsQsuS_QaUzeGWnhp2lwQN3ubG3ukx3fAymAGr14hKp0ylX5ovrcwP5xq5C8u8W4IfuFHYy1R1Ejp7
            aI_BKiuLls31Fav5fZoi3DY_CRq7icpgWiXdR7yszvPoioBB6E1oL0ZYwle_sFf4UigCZc8IHXbtnlHOicaDhs7MQI55WvOg
            ncXuAQIDAQAB","publicKeyAlgorithm":-257,"transports":["internal"]},"type":"public-key"}
            "#,
            signed_for: "Z5mREMWCN67cIarlyzmc4y1iYHuvBo612Uzo0kdG-WA",
            signed: r#"
            {"authenticatorAttachment":"platform","clientExtensionResults":{},"id":"b9n-nV3iJVfOUeXBUUyRnG12
            xs9Jt6Qiovy1sRL4WuI","rawId":"b9n-nV3iJVfOUeXBUUyRnG12xs9Jt6Qiovy1sRL4WuI","response":{"authenti
            catorData":"SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAg","clientDataJSON":"eyJ0eXBlIjoid2
            ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoiWjVtUkVNV0NONjdjSWFybHl6bWM0eTFpWUh1dkJvNjEyVXpvMGtkRy1XQSIsIm
            9yaWdpbiI6Imh0dHA6Ly9sb2NhbGhvc3Q6ODQ3MSIsImNyb3NzT3JpZ2luIjpmYWxzZX0","signature":"rySQYcUqrCZd
            ZS3nq5xnlzB3LntyfEMYECUdNV8D1vnPGZwQVBJImQ2zur8QW3kcY-rLHo7XMgGerVzfh80sTYBPm2sfHhsf-RwMNKg-I3f4
            dBtsLjiZixkyRzKI3ZDytVspT1WCoCnnuLyCYI42kFVt3MYFwpZm5gKN37WoqVSIrXBsU_oGWPoTYUDgpr1WCm8_VKZE7Qht
            SJuIa3lys0jtK2oxnlYF9bVpbmg5DS8cjXq-RV3OxJIGeDhcoz_TtJghvO9JVyJMNp86EVHsQE3yzVEzNVnrYUE0R8sQnjR4
            wcaLArszH65dd-mK6RMZ3WrtbjbG44cB8Osw0DmEcQ","userHandle":"YWNjb3VudC1vbmUtMDAwMQ"},"type":"publi
            c-key"}
            "#,
        },
    ];

    impl Recorded {
        fn created(&self) -> String {
            self.created.split_whitespace().collect()
        }

        fn signed(&self) -> String {
            self.signed.split_whitespace().collect()
        }

        fn passkey(&self) -> NewPasskey {
            register(&self.created(), &bytes(self.created_for), &RP).unwrap()
        }

        fn sign_in(&self, json: &str, passkey: &NewPasskey) -> Result<u32, PasskeyFault> {
            assertion(json)?.verify(
                &bytes(self.signed_for),
                &RP,
                &passkey.public_key,
                passkey.algorithm,
            )
        }
    }

    fn bytes(base64: &str) -> Vec<u8> {
        URL_SAFE_NO_PAD.decode(base64).unwrap()
    }

    fn base64(bytes: &[u8]) -> String {
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// A copy of an answer in which a base64 member of its response is changed.
    fn changed(json: &str, member: &str, change: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut answer: Value = serde_json::from_str(json).unwrap();
        let member = &mut answer["response"][member];
        let mut content = bytes(member.as_str().unwrap());
        change(&mut content);
        *member = base64(&content).into();
        answer.to_string()
    }

    /// A device in software, for answers that no browser would give: each is right but for the one thing that a test
    /// changes, and is signed as it is.
    struct Device {
        key: Ed25519KeyPair,
        id: Vec<u8>,
        client_data: Value,
        rp_id: &'static str,
        flags: u8,
        sign_count: u32,
        /// The attested id, if it is not `id`.
        attested_id: Option<Vec<u8>>,
        tail: Vec<u8>,
    }

    const CHALLENGE: &[u8] = b"sixteen bytes or";
    const SOUND: u8 = USER_PRESENT | USER_VERIFIED;

    impl Device {
        fn new(kind: &str, flags: u8) -> Self {
            let client_data = json!({ "type": kind, "challenge": base64(CHALLENGE), "origin": RP.origin, "crossOrigin": false });
            Self {
                key: Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap(),
                id: vec![1, 2, 3],
                client_data,
                rp_id: RP.id,
                flags,
                sign_count: 5,
                attested_id: None,
                tail: Vec::new(),
            }
        }

        fn creating() -> Self {
            Self {
                tail: vec![0xa0],
                ..Self::new("webauthn.create", SOUND | ATTESTED)
            }
        }

        fn signing() -> Self {
            Self::new("webauthn.get", SOUND)
        }

        fn authenticator_data(&self) -> Vec<u8> {
            let mut data = Sha256::digest(self.rp_id).to_vec();
            data.push(self.flags);
            data.extend(self.sign_count.to_be_bytes());
            if self.flags & ATTESTED != 0 {
                let id = self.attested_id.as_ref().unwrap_or(&self.id);
                data.extend([0; 16]);
                data.extend(u16::try_from(id.len()).unwrap().to_be_bytes());
                data.extend(id);
            }
            data.extend(&self.tail);
            data
        }

        fn public_key(&self) -> Vec<u8> {
            [ED25519_PREFIX, self.key.public_key().as_ref()].concat()
        }

        /// The answer, with the members of both kinds.
        fn answer(&self) -> Value {
            let client_data = self.client_data.to_string().into_bytes();
            let data = self.authenticator_data();
            let signature = self
                .key
                .sign(&[&data[..], &Sha256::digest(&client_data)].concat());
            json!({
                "rawId": base64(&self.id),
                "type": "public-key",
                "response": {
                    "clientDataJSON": base64(&client_data),
                    "authenticatorData": base64(&data),
                    "publicKey": base64(&self.public_key()),
                    "publicKeyAlgorithm": EDDSA,
                    "signature": base64(signature.as_ref()),
                    "userHandle": "YWRh",
                },
            })
        }

        fn register(&self) -> Result<NewPasskey, PasskeyFault> {
            register(&self.answer().to_string(), CHALLENGE, &RP)
        }

        fn sign_in(&self) -> Result<u32, PasskeyFault> {
            assertion(&self.answer().to_string())?.verify(CHALLENGE, &RP, &self.public_key(), EDDSA)
        }
    }

    #[test]
    fn what_chromium_answers_is_accepted() {
        for recorded in &RECORDED {
            let passkey = recorded.passkey();
            let signed = assertion(&recorded.signed()).unwrap();
            assert_eq!((passkey.algorithm, passkey.sign_count), (recorded.algorithm, 1));
            assert_eq!(signed.credential_id, passkey.credential_id);
            assert_eq!(signed.user_handle.as_deref(), Some(&b"account-one-0001"[..]));
            assert_eq!(
                claimed_challenge(&recorded.created()),
                Ok(bytes(recorded.created_for))
            );
            assert_eq!(
                claimed_challenge(&recorded.signed()),
                Ok(bytes(recorded.signed_for))
            );
            assert_eq!(recorded.sign_in(&recorded.signed(), &passkey), Ok(2));
        }
    }

    #[test]
    fn recorded_answers_hold_for_their_challenge_and_server_only() {
        let elsewhere = RelyingParty {
            origin: "http://localhost:8472",
            ..RP
        };
        let other_site = RelyingParty {
            id: "example.com",
            ..RP
        };
        for recorded in &RECORDED {
            let (created, challenge) = (recorded.created(), bytes(recorded.created_for));
            let registered = |challenge: &[u8], rp| register(&created, challenge, rp).map(|_| ());
            assert_eq!(
                registered(&bytes(recorded.signed_for), &RP),
                Err(PasskeyFault::Challenge)
            );
            assert_eq!(registered(&challenge[..31], &RP), Err(PasskeyFault::Challenge));
            assert_eq!(registered(b"", &RP), Err(PasskeyFault::Challenge));
            assert_eq!(registered(&challenge, &elsewhere), Err(PasskeyFault::Origin));
            assert_eq!(
                registered(&challenge, &other_site),
                Err(PasskeyFault::RelyingParty)
            );

            let (signed, challenge) = (assertion(&recorded.signed()).unwrap(), bytes(recorded.signed_for));
            let key = recorded.passkey().public_key;
            let verified = |challenge: &[u8], rp| signed.verify(challenge, rp, &key, recorded.algorithm);
            assert_eq!(
                verified(&bytes(recorded.created_for), &RP),
                Err(PasskeyFault::Challenge)
            );
            assert_eq!(verified(b"", &RP), Err(PasskeyFault::Challenge));
            assert_eq!(verified(&challenge, &elsewhere), Err(PasskeyFault::Origin));
            assert_eq!(verified(&challenge, &other_site), Err(PasskeyFault::RelyingParty));
        }
    }

    #[test]
    fn an_answer_of_one_kind_is_none_of_the_other() {
        for recorded in &RECORDED {
            let made = register(&recorded.signed(), &bytes(recorded.signed_for), &RP);
            assert_eq!(made, Err(PasskeyFault::Kind));
            assert_eq!(
                assertion(&recorded.created()).unwrap_err(),
                PasskeyFault::Unreadable
            );
        }
        // These have all members of both kinds, and a valid signature.
        let creating = Device {
            client_data: Device::signing().client_data,
            ..Device::creating()
        };
        assert_eq!(creating.register(), Err(PasskeyFault::Kind));
        let signing = Device {
            client_data: Device::creating().client_data,
            ..Device::signing()
        };
        assert_eq!(signing.sign_in(), Err(PasskeyFault::Kind));
    }

    #[test]
    fn only_the_key_of_the_passkey_verifies() {
        for recorded in &RECORDED {
            let signed = assertion(&recorded.signed()).unwrap();
            for other in &RECORDED {
                let key = other.passkey().public_key;
                let by = |algorithm| signed.verify(&bytes(recorded.signed_for), &RP, &key, algorithm);
                let same = other.algorithm == recorded.algorithm;
                assert_eq!(
                    by(other.algorithm),
                    if same { Ok(2) } else { Err(PasskeyFault::Signature) }
                );
                assert_eq!(by(recorded.algorithm).is_ok(), same);
                assert_eq!(by(-37), Err(PasskeyFault::Algorithm));
            }
        }
        let other = Ed25519KeyPair::from_seed_unchecked(&[8; 32]).unwrap();
        let key = [ED25519_PREFIX, other.public_key().as_ref()].concat();
        let signed = assertion(&Device::signing().answer().to_string()).unwrap();
        assert_eq!(
            signed.verify(CHALLENGE, &RP, &key, EDDSA),
            Err(PasskeyFault::Signature)
        );
    }

    #[test]
    fn a_changed_byte_of_signed_data_is_refused() {
        for recorded in &RECORDED {
            let passkey = recorded.passkey();
            for member in ["authenticatorData", "clientDataJSON", "signature"] {
                let mut at = 0;
                let mut length = 1;
                while at < length {
                    let json = changed(&recorded.signed(), member, |content| {
                        length = content.len();
                        content[at] ^= 0x01;
                    });
                    assert!(recorded.sign_in(&json, &passkey).is_err(), "{member} {at}");
                    at += 1;
                }
            }
        }
    }

    #[test]
    fn a_signed_member_cut_off_or_extended_is_refused() {
        for recorded in &RECORDED {
            let passkey = recorded.passkey();
            for member in ["authenticatorData", "clientDataJSON", "signature"] {
                let mut length = 0;
                changed(&recorded.signed(), member, |content| length = content.len());
                for cut in 0..length {
                    let json = changed(&recorded.signed(), member, |content| content.truncate(cut));
                    assert!(recorded.sign_in(&json, &passkey).is_err(), "{member} {cut}");
                }
                let json = changed(&recorded.signed(), member, |content| content.push(0));
                assert!(recorded.sign_in(&json, &passkey).is_err(), "{member}");
            }
        }
    }

    /// No signature covers a registration: a change that is accepted may only be one that does not matter.
    #[test]
    fn a_changed_registration_makes_the_same_passkey_or_none() {
        for recorded in &RECORDED {
            let (made, challenge) = (recorded.passkey(), bytes(recorded.created_for));
            for member in ["authenticatorData", "clientDataJSON"] {
                let mut length = 0;
                changed(&recorded.created(), member, |content| length = content.len());
                for at in 0..length {
                    let cut = changed(&recorded.created(), member, |content| content.truncate(at));
                    let flipped = changed(&recorded.created(), member, |content| content[at] ^= 0x01);
                    for json in [cut, flipped] {
                        if let Ok(passkey) = register(&json, &challenge, &RP) {
                            let sign_count = passkey.sign_count;
                            assert_eq!(
                                passkey,
                                NewPasskey {
                                    sign_count,
                                    ..made.clone()
                                },
                                "{member} {at}"
                            );
                        }
                    }
                }
            }
            // All that is read is the first 55 bytes, the id and one byte of the key.
            for cut in 0..=55 + made.credential_id.len() {
                let json = changed(&recorded.created(), "authenticatorData", |content| {
                    content.truncate(cut)
                });
                assert_eq!(
                    register(&json, &challenge, &RP),
                    Err(PasskeyFault::Unreadable),
                    "{cut}"
                );
            }
        }
    }

    #[test]
    fn text_changed_or_cut_off_anywhere_makes_no_other_answer() {
        for recorded in &RECORDED {
            let (created, signed) = (recorded.created(), recorded.signed());
            let (made, challenge) = (recorded.passkey(), bytes(recorded.created_for));
            let original = assertion(&signed).unwrap();
            for at in 0..created.len() {
                assert!(register(&created[..at], &challenge, &RP).is_err());
                let Ok(json) = String::from_utf8(flipped(&created, at)) else {
                    continue;
                };
                if let Ok(passkey) = register(&json, &challenge, &RP) {
                    let NewPasskey {
                        public_key,
                        sign_count,
                        ..
                    } = passkey.clone();
                    assert_eq!(
                        passkey,
                        NewPasskey {
                            public_key,
                            sign_count,
                            ..made.clone()
                        }
                    );
                }
            }
            for at in 0..signed.len() {
                assert!(assertion(&signed[..at]).is_err());
                let Ok(json) = String::from_utf8(flipped(&signed, at)) else {
                    continue;
                };
                let Ok(read) = assertion(&json) else { continue };
                if read
                    .verify(&bytes(recorded.signed_for), &RP, &made.public_key, made.algorithm)
                    .is_ok()
                {
                    assert_eq!(read.client_data, original.client_data);
                    assert_eq!(read.authenticator_data, original.authenticator_data);
                    assert_eq!(read.signature, original.signature);
                }
            }
        }
    }

    fn flipped(text: &str, at: usize) -> Vec<u8> {
        let mut bytes = text.as_bytes().to_vec();
        bytes[at] ^= 0x01;
        bytes
    }

    #[test]
    fn a_user_who_is_absent_or_unverified_is_refused() {
        assert!(Device::creating().register().is_ok());
        assert_eq!(Device::signing().sign_in(), Ok(5));
        for (flags, fault) in [
            (0x00, PasskeyFault::NotPresent),
            (0x04, PasskeyFault::NotPresent),
            (0x01, PasskeyFault::NotVerified),
            (0x15, PasskeyFault::Backup),
        ] {
            let creating = Device {
                flags: flags | ATTESTED,
                ..Device::creating()
            };
            assert_eq!(creating.register(), Err(fault));
            assert_eq!(
                Device {
                    flags,
                    ..Device::signing()
                }
                .sign_in(),
                Err(fault)
            );
        }
        // Not backed up yet, backed up, and bits that the standard has not given a meaning.
        for flags in [0x0d, 0x1d, 0x27] {
            assert_eq!(
                Device {
                    flags,
                    ..Device::signing()
                }
                .sign_in(),
                Ok(5)
            );
        }
    }

    #[test]
    fn client_data_is_checked_member_by_member() {
        let longer = format!("{}/", RP.origin);
        for (member, value, fault) in [
            ("type", json!("webauthn.Get"), PasskeyFault::Kind),
            ("type", Value::Null, PasskeyFault::Unreadable),
            (
                "challenge",
                json!(base64(b"sixteen bytes of")),
                PasskeyFault::Challenge,
            ),
            (
                "challenge",
                json!(format!("{}=", base64(CHALLENGE))),
                PasskeyFault::Unreadable,
            ),
            ("origin", json!("https://localhost:8471"), PasskeyFault::Origin),
            ("origin", json!("http://LOCALHOST:8471"), PasskeyFault::Origin),
            ("origin", json!(longer), PasskeyFault::Origin),
            ("origin", json!("null"), PasskeyFault::Origin),
            ("crossOrigin", json!(true), PasskeyFault::Framed),
            ("crossOrigin", json!("true"), PasskeyFault::Unreadable),
            ("topOrigin", json!(RP.origin), PasskeyFault::Framed),
        ] {
            let (mut creating, mut signing) = (Device::creating(), Device::signing());
            creating.client_data[member] = value.clone();
            signing.client_data[member] = value.clone();
            assert_eq!(creating.register(), Err(fault), "{member} {value}");
            assert_eq!(signing.sign_in(), Err(fault), "{member} {value}");
        }
        let mut device = Device::signing();
        device.client_data["another"] = json!({ "member": [] });
        device
            .client_data
            .as_object_mut()
            .unwrap()
            .shift_remove("crossOrigin");
        assert_eq!(device.sign_in(), Ok(5));
    }

    #[test]
    fn the_site_is_checked_in_what_the_device_signed() {
        assert_eq!(
            Device {
                rp_id: "example.com",
                ..Device::creating()
            }
            .register(),
            Err(PasskeyFault::RelyingParty)
        );
        assert_eq!(
            Device {
                rp_id: "example.com",
                ..Device::signing()
            }
            .sign_in(),
            Err(PasskeyFault::RelyingParty)
        );
    }

    #[test]
    fn the_id_has_to_be_the_attested_one_and_of_a_valid_length() {
        let with = |id: Vec<u8>, attested_id| {
            Device {
                id,
                attested_id,
                ..Device::creating()
            }
            .register()
            .err()
        };
        assert_eq!(with(vec![9; 1023], None), None);
        assert_eq!(with(vec![9; 1], None), None);
        assert_eq!(with(vec![9; 1024], None), Some(PasskeyFault::CredentialId));
        assert_eq!(with(vec![], None), Some(PasskeyFault::CredentialId));
        assert_eq!(
            with(vec![9; 3], Some(vec![9; 4])),
            Some(PasskeyFault::CredentialId)
        );
        assert_eq!(
            with(vec![9; 3], Some(vec![9, 9, 8])),
            Some(PasskeyFault::CredentialId)
        );
        let bare = Device {
            flags: SOUND,
            tail: vec![],
            ..Device::creating()
        };
        assert_eq!(bare.register(), Err(PasskeyFault::CredentialId));
        assert_eq!(
            Device {
                id: vec![9; 1024],
                ..Device::signing()
            }
            .sign_in(),
            Err(PasskeyFault::CredentialId)
        );
    }

    #[test]
    fn data_beyond_the_flags_is_refused() {
        assert_eq!(
            Device {
                tail: vec![0xa0],
                ..Device::signing()
            }
            .sign_in(),
            Err(PasskeyFault::Unreadable)
        );
        let extended = Device {
            tail: vec![0xa0],
            flags: SOUND | EXTENDED,
            ..Device::signing()
        };
        assert_eq!(extended.sign_in(), Ok(5));
        assert_eq!(
            Device {
                tail: vec![],
                ..Device::creating()
            }
            .register(),
            Err(PasskeyFault::Unreadable)
        );
    }

    #[test]
    fn json_of_another_form_is_refused() {
        let read = |change: &dyn Fn(&mut Value)| {
            let mut answer = Device::creating().answer();
            change(&mut answer);
            register(&answer.to_string(), CHALLENGE, &RP).err()
        };
        assert_eq!(read(&|_| ()), None);
        assert_eq!(
            read(&|answer| answer["clientExtensionResults"] = json!({ "credProps": { "rk": true } })),
            None
        );
        assert_eq!(
            read(&|answer| answer["type"] = json!("password")),
            Some(PasskeyFault::Unreadable)
        );
        assert_eq!(
            read(&|answer| answer["rawId"] = json!("AQI+")),
            Some(PasskeyFault::Unreadable)
        );
        assert_eq!(
            read(&|answer| answer["rawId"] = json!("AR")),
            Some(PasskeyFault::Unreadable)
        );
        assert_eq!(
            read(&|answer| answer["response"] = json!([])),
            Some(PasskeyFault::Unreadable)
        );
        let algorithm = |value| read(&|answer| answer["response"]["publicKeyAlgorithm"] = json!(value));
        assert_eq!(algorithm(-37), Some(PasskeyFault::Algorithm));
        assert_eq!(algorithm(ES256), Some(PasskeyFault::PublicKey));
        assert_eq!(algorithm(RS256), Some(PasskeyFault::PublicKey));
        assert_eq!(
            read(&|answer| answer["response"]["publicKey"] = Value::Null),
            Some(PasskeyFault::Algorithm)
        );
        assert_eq!(
            read(&|answer| answer["pad"] = json!("x".repeat(ANSWER_MAX))),
            Some(PasskeyFault::TooLong)
        );
        let twice = Device::creating()
            .answer()
            .to_string()
            .replacen('{', r#"{"rawId":"AQID","#, 1);
        assert_eq!(register(&twice, CHALLENGE, &RP), Err(PasskeyFault::Unreadable));
        let deep = "[".repeat(ANSWER_MAX);
        assert_eq!(claimed_challenge(&deep), Err(PasskeyFault::Unreadable));
    }

    #[test]
    fn a_user_handle_is_optional_and_bounded() {
        let handle = |value: Value| {
            let mut answer = Device::signing().answer();
            answer["response"]["userHandle"] = value;
            assertion(&answer.to_string()).map(|read| read.user_handle)
        };
        assert_eq!(handle(json!("YWRh")), Ok(Some(b"ada".to_vec())));
        assert_eq!(handle(json!("")), Ok(None));
        assert_eq!(handle(Value::Null), Ok(None));
        assert_eq!(handle(json!(base64(&[1; 64]))), Ok(Some(vec![1; 64])));
        assert_eq!(handle(json!(base64(&[1; 65]))), Err(PasskeyFault::Unreadable));
    }

    /// DER with a length in its shortest form.
    fn der(tag: u8, content: &[u8]) -> Vec<u8> {
        let [high, low] = u16::try_from(content.len()).unwrap().to_be_bytes();
        let length = match content.len() {
            0..=0x7f => vec![low],
            0x80..=0xff => vec![0x81, low],
            _ => vec![0x82, high, low],
        };
        [&[tag][..], &length, content].concat()
    }

    fn rsa_spki(modulus: &[u8], exponent: &[u8]) -> Vec<u8> {
        let key = der(
            SEQUENCE,
            &[der(INTEGER, modulus), der(INTEGER, exponent)].concat(),
        );
        der(
            SEQUENCE,
            &[RSA_ALGORITHM, &der(BIT_STRING, &[&[0][..], &key].concat())].concat(),
        )
    }

    /// A number of so many bits, as the content of a DER integer.
    fn number(bits: usize) -> Vec<u8> {
        let mut digits = vec![0xff; bits / 8 + 1];
        // With a multiple of 8 bits this is the zero byte that keeps the number positive.
        digits[0] = u8::try_from((1_u16 << (bits % 8)) - 1).unwrap();
        digits
    }

    #[test]
    fn rsa_keys_are_read_strictly() {
        let accepted = |spki: &[u8]| verifying_key(RS256, spki).is_ok();
        for size in [2048, 2049, 3072, 4096, 8191, 8192] {
            assert!(accepted(&rsa_spki(&number(size), &[1, 0, 1])), "{size}");
        }
        for size in [8, 512, 1024, 2047, 8193, 16384] {
            assert!(!accepted(&rsa_spki(&number(size), &[1, 0, 1])), "{size}");
        }
        for exponent in [&[3][..], &[1, 0, 1], &[1, 0xff, 0xff, 0xff, 0xff]] {
            assert!(accepted(&rsa_spki(&number(2048), exponent)));
        }
        for exponent in [
            &[][..],
            &[0],
            &[1],
            &[2],
            &[0, 3],
            &[0x81],
            &[1, 0, 0],
            &[2, 0, 0, 0, 1],
        ] {
            assert!(!accepted(&rsa_spki(&number(2048), exponent)), "{exponent:?}");
        }
        let negative = [&[0xff; 255][..], &[1]].concat();
        assert!(!accepted(&rsa_spki(&negative, &[3])));
        assert!(!accepted(&rsa_spki(&[&[0, 0][..], &[0xff; 256]].concat(), &[3])));
        assert!(!accepted(&rsa_spki(&[&[0][..], &[0xfe; 256]].concat(), &[3])));
    }

    #[test]
    fn der_lengths_are_only_the_shortest() {
        assert_eq!(der_length(&[0x7f, 9]), Some((0x7f, &[9][..])));
        assert_eq!(der_length(&[0x81, 0x80, 9]), Some((0x80, &[9][..])));
        assert_eq!(der_length(&[0x82, 1, 0, 9]), Some((0x100, &[9][..])));
        for longer in [
            &[][..],
            &[0x80],
            &[0x81],
            &[0x81, 0x7f],
            &[0x82, 1],
            &[0x82, 0, 0xff],
            &[0x83, 1, 0, 0],
            &[0xff],
        ] {
            assert_eq!(der_length(longer), None, "{longer:?}");
        }
    }

    #[test]
    fn a_public_key_cut_off_or_extended_is_refused() {
        for recorded in &RECORDED {
            let key = recorded.passkey().public_key;
            for cut in 0..key.len() {
                assert!(verifying_key(recorded.algorithm, &key[..cut]).is_err());
            }
            assert!(verifying_key(recorded.algorithm, &[&key[..], &[0]].concat()).is_err());
            let signed = assertion(&recorded.signed()).unwrap();
            for at in 0..key.len() {
                let mut other = key.clone();
                other[at] ^= 0x01;
                let verified = signed.verify(&bytes(recorded.signed_for), &RP, &other, recorded.algorithm);
                assert!(verified.is_err(), "{at}");
            }
        }
    }

    #[test]
    fn a_point_is_uncompressed() {
        let key = RECORDED[0].passkey().public_key;
        for form in [0, 2, 3, 6, 7] {
            let mut other = key.clone();
            other[P256_PREFIX.len()] = form;
            assert_eq!(verifying_key(ES256, &other).err(), Some(PasskeyFault::PublicKey));
        }
        let compressed = &key[..P256_PREFIX.len() + 33];
        assert_eq!(
            verifying_key(ES256, compressed).err(),
            Some(PasskeyFault::PublicKey)
        );
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,400}") {
            prop_assert!(register(&text, b"", &RP).is_err());
            prop_assert!(assertion(&text).is_err());
            prop_assert!(claimed_challenge(&text).is_err());
        }

        #[test]
        fn no_member_panics(id: Vec<u8>, client_data: Vec<u8>, data: Vec<u8>, key: Vec<u8>, algorithm in -9..-6_i64) {
            let answer = json!({ "rawId": base64(&id), "type": "public-key", "response": {
                "clientDataJSON": base64(&client_data), "authenticatorData": base64(&data), "signature": base64(&key),
                "publicKey": base64(&key), "publicKeyAlgorithm": algorithm,
            }}).to_string();
            prop_assert!(register(&answer, b"", &RP).is_err());
            if let Ok(read) = assertion(&answer) {
                prop_assert!(read.verify(b"", &RP, &key, algorithm).is_err());
            }
        }

        #[test]
        fn no_data_of_a_device_panics(tail: Vec<u8>, flags: u8, id: Vec<u8>) {
            let creating = Device { id: id.clone(), flags, tail: tail.clone(), ..Device::creating() };
            if let Ok(made) = creating.register() {
                prop_assert!(flags & (SOUND | ATTESTED) == SOUND | ATTESTED && made.credential_id == id);
            }
            let signing = Device { id, flags, tail, ..Device::signing() };
            prop_assert!(signing.sign_in().is_err() || flags & SOUND == SOUND);
        }

        #[test]
        fn no_public_key_panics(key: Vec<u8>, modulus: Vec<u8>, exponent: Vec<u8>) {
            for algorithm in ALGORITHMS {
                prop_assert!(verifying_key(algorithm, &key).is_err());
                prop_assert!(verifying_key(algorithm, &rsa_spki(&modulus, &exponent)).is_err());
            }
        }
    }
}
