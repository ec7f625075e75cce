//! Messages of git, ssh and the hosts behind them, as far as they leave no doubt.

use crate::error::{Cause, Trouble, Why};

/// Oldest git that reaches the address it is told to, and no other.
const OLDEST: (u32, u32) = (2, 37);

/// Returns the reason that a message gives. Digits alone mean nothing, because ids of commits contain them.
pub(super) fn meaning(words: &str) -> Option<Why> {
    const KNOWN: [(Why, &[&str]); 6] = [
        // What a hook says on its way is its own.
        (Why::Permission, &["hook declined)"]),
        (
            Why::Credential,
            &[
                "authentication failed",
                "could not read username",
                "permission denied (",
                "returned error: 401",
                "host key verification failed",
            ],
        ),
        (
            Why::Conflict,
            &[
                "stale info",
                "fetch first",
                "non-fast-forward",
                "cannot lock ref",
                "incorrect old value",
                "reference already exists",
            ],
        ),
        (
            Why::Permission,
            &[
                "returned error: 403",
                "not allowed",
                "not authorized",
                "protected branch",
                "[remote rejected]",
                "permission denied",
                // GitHub and GitLab, of keys
                "marked as read only",
                "does not have write access",
            ],
        ),
        (
            Why::Missing,
            &[
                "does not appear to be a git repository",
                "repository not found",
                "repository does not exist",
                "could not be found",
                "returned error: 404",
                "not found",
            ],
        ),
        (
            Why::Unreadable,
            &[
                // a redirect, which is not followed
                "returned error: 30",
                "is this a git repository",
                "bad line length",
                // what is no smart server is written to by WebDAV
                "git-http-push' died",
                "git-http-push failed",
                "locking support on remote",
            ],
        ),
    ];
    let words = words.to_lowercase();
    let says = |any: &[&str]| any.iter().any(|known| words.contains(known));
    KNOWN.into_iter().find(|(_, any)| says(any)).map(|(why, _)| why)
}

/// Returns the obstacle that a message names; [`Cause::Connect`] if it names none.
pub(super) fn obstacle(words: &str) -> Cause {
    let words = words.to_lowercase();
    let says = |any: &[&str]| any.iter().any(|known| words.contains(known));
    if says(&["certificate", "ssl_connect", "gnutls_handshake", "ssl connection"]) {
        Cause::Tls
    } else if says(&["operation too slow", "timed out"]) {
        Cause::Timeout
    } else {
        Cause::Connect
    }
}

/// Whether this git, by what it says of its version, is new enough.
pub(super) fn new_enough(said: &str) -> Result<(), Trouble> {
    let mut numbers = said
        .trim_start_matches("git version ")
        .split(|c: char| !c.is_ascii_digit())
        .map_while(|number| number.parse().ok());
    match (numbers.next(), numbers.next()) {
        (Some(major), Some(minor)) if (major, minor) < OLDEST => {
            let why = format!("git: has to be {}.{} or newer on the server", OLDEST.0, OLDEST.1);
            Err(Trouble::because(Why::Unsupported, why))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Cause, Why, meaning, new_enough, obstacle};

    #[test]
    fn words_are_read_and_ids_are_not() {
        let declined = "!\t4014030404:refs/heads/main\t[remote rejected] (pre-receive hook declined)";
        for (words, expected) in [
            (declined, Some(Why::Permission)),
            (
                "remote: fetch first\n! [remote rejected] main -> main (hook declined)",
                Some(Why::Permission),
            ),
            (
                "fatal: unable to access: The requested URL returned error: 401",
                Some(Why::Credential),
            ),
            (
                "git@example.com: Permission denied (publickey).",
                Some(Why::Credential),
            ),
            ("! [rejected] main -> main (stale info)", Some(Why::Conflict)),
            ("remote: Repository not found.", Some(Why::Missing)),
            ("fatal: the remote end hung up unexpectedly 401", None),
            (
                "ERROR: The key you are authenticating with has been marked as read only.",
                Some(Why::Permission),
            ),
            (
                "fatal: unable to access 'http://a/': The requested URL returned error: 302",
                Some(Why::Unreadable),
            ),
            (
                "fatal: https://a/info/refs not valid: is this a git repository?",
                Some(Why::Unreadable),
            ),
        ] {
            assert_eq!(meaning(words), expected, "{words}");
        }
    }

    #[test]
    fn what_keeps_from_asking_is_told_apart() {
        for (words, expected) in [
            ("server certificate verification failed. CAfile: none", Cause::Tls),
            ("Operation too slow. Less than 1 bytes/sec", Cause::Timeout),
            (
                "ssh: connect to host a port 22: Connection refused",
                Cause::Connect,
            ),
        ] {
            assert_eq!(obstacle(words), expected, "{words}");
        }
    }

    #[test]
    fn an_old_git_is_not_used() {
        for (said, expected) in [
            ("git version 2.34.1\n", false),
            ("git version 1.8.3.1", false),
            ("git version 2.37.0", true),
            ("git version 2.47.3 (Apple Git-1)", true),
            ("git version 3.0.0", true),
            ("something else", true),
        ] {
            assert_eq!(new_enough(said).is_ok(), expected, "{said}");
        }
    }
}
