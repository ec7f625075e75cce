//! Recorded answers of Chromium, and each way in which an answer is refused.

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
