//! Passwords that are accepted (OWASP ASVS 5.0, 6.2).

/// Shortest password, in characters.
pub const MIN_CHARACTERS: usize = 15;
/// Longest password, in characters.
pub const MAX_CHARACTERS: usize = 128;
/// Characters of a name or an address from which a password may not be made.
const MIN_FORBIDDEN: usize = 4;
/// Passwords of 12 and more characters that are in common lists.
const COMMON: &str = include_str!("../data/common_passwords.txt");

/// A password that is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedPassword {
    /// Code of the reason.
    pub code: &'static str,
    /// Reason.
    pub why: String,
}

/// Checks a new password. `forbidden` are names and addresses of which it may not mainly consist.
pub fn check(password: &str, forbidden: &[&str]) -> Result<(), RefusedPassword> {
    let refuse = |code: &'static str, why: String| Err(RefusedPassword { code, why });
    let characters = password.chars().count();
    if characters < MIN_CHARACTERS {
        return refuse(
            "too_short",
            format!(
                "has {characters} characters, at least {MIN_CHARACTERS} are needed; a few random words make a good one"
            ),
        );
    }
    if characters > MAX_CHARACTERS {
        return refuse(
            "too_long",
            format!("has {characters} characters, at most {MAX_CHARACTERS} are accepted"),
        );
    }
    let folded = password.to_lowercase();
    if COMMON.lines().any(|common| common == folded) {
        return refuse(
            "too_common",
            "is in lists of common passwords; choose another".to_owned(),
        );
    }
    let mut rest = folded.clone();
    for part in forbidden.iter().flat_map(|text| text.split(['@', '.', ' '])) {
        let part = part.to_lowercase();
        if part.chars().count() >= MIN_FORBIDDEN {
            rest = rest.replace(&part, "");
        }
    }
    if rest.chars().count() < MIN_CHARACTERS / 2 || is_repetition(&folded) || is_repetition(&rest) {
        return refuse(
            "too_easy",
            "is made of your name, your address or a repetition; choose another".to_owned(),
        );
    }
    Ok(())
}

/// Returns whether a text is a shorter one again and again, such as `passwordpassword`.
fn is_repetition(text: &str) -> bool {
    let letters: Vec<char> = text.chars().collect();
    (1..=letters.len() / 2).any(|period| {
        let shifted = letters.iter().skip(period);
        letters.iter().zip(shifted).all(|(one, other)| one == other)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weak_passwords_are_refused() {
        let forbidden = ["ann.miller@example.com", "Ann Miller", "searchwright"];
        for bad in [
            "",
            "short",
            "fourteen chars",
            "aaaaaaaaaaaaaaaaaaaa",
            "passwordPassword",
            "abcabcabcabcabcab",
            "MillerExampleMiller1",
            "searchwrightexample12",
            &"x1".repeat(65),
        ] {
            assert!(check(bad, &forbidden).is_err(), "{bad:?}");
        }
        assert!(check("correct horse battery staple 7", &forbidden).is_ok());
        assert!(check("ünïcödé wörds äre fine", &forbidden).is_ok());
        let common = COMMON
            .lines()
            .skip(1)
            .find(|line| line.chars().count() >= MIN_CHARACTERS);
        let refused = check(common.unwrap(), &[]).unwrap_err();
        assert_eq!(refused.code, "too_common");
    }
}
