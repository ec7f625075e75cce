//! Answers of a browser that are accepted, and each way in which an answer is refused.

use proptest::prelude::*;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};

use self::{public_keys::rsa_spki, recorded::RECORDED};
use super::*;

mod public_keys;
mod recorded;

const RP: RelyingParty = RelyingParty {
    id: "localhost",
    origin: "http://localhost:8471",
};

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
