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
mod tests;
