use secrecy::{ExposeSecret as _, SecretString};

use searchwright_outbound::webhook_signature::signatures;

use super::new_secret;

/// The example of the Standard Webhooks specification's reference libraries.
#[test]
fn a_signature_is_that_of_the_standard() {
    let secret = SecretString::from("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    let signed = signatures(
        &[secret],
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1_614_265_330,
        r#"{"test": 2432232314}"#,
    );
    assert_eq!(signed.unwrap(), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

#[test]
fn every_secret_signs_while_one_is_changed() {
    let secrets = [new_secret().unwrap(), new_secret().unwrap()];
    assert_ne!(secrets[0].expose_secret(), secrets[1].expose_secret());
    let both = signatures(&secrets, "msg_1", 1, "{}").unwrap();
    let each: Vec<String> = secrets
        .iter()
        .map(|secret| signatures(std::slice::from_ref(secret), "msg_1", 1, "{}").unwrap())
        .collect();
    assert_eq!(both, each.join(" "));
}
