//! Recorded answers of a browser.

use super::*;

/// Answers of Chromium 156 (Debian 12) with its virtual device, as `JSON.stringify(credential.toJSON())` gave them.
pub(super) struct Recorded {
    pub(super) algorithm: i64,
    pub(super) created_for: &'static str,
    pub(super) created: &'static str,
    pub(super) signed_for: &'static str,
    pub(super) signed: &'static str,
}

pub(super) const RECORDED: [Recorded; 3] = [
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
    pub(super) fn created(&self) -> String {
        self.created.split_whitespace().collect()
    }

    pub(super) fn signed(&self) -> String {
        self.signed.split_whitespace().collect()
    }

    pub(super) fn passkey(&self) -> NewPasskey {
        register(&self.created(), &bytes(self.created_for), &RP).unwrap()
    }

    pub(super) fn sign_in(&self, json: &str, passkey: &NewPasskey) -> Result<u32, PasskeyFault> {
        assertion(json)?.verify(
            &bytes(self.signed_for),
            &RP,
            &passkey.public_key,
            passkey.algorithm,
        )
    }
}
