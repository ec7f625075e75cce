//! Limits of the crates. A number here may only go down; a crate that is not listed has reached every goal.
//!
//! Code that moves to another crate takes its share of the limits along.

/// Goal for doc comments that begin with a question word, in percent of all doc comments; the share must be lower.
pub(super) const QUESTION_COMMENT_PERCENT: usize = 4;

/// Goal for the files of a ring; smaller rings are allowed.
pub(super) const MAX_RING_FILES: usize = 4;

/// Words of ARCHITECTURE.md.
pub(super) const MAX_ARCHITECTURE_WORDS: usize = 1_061;

/// Lines of README.md.
pub(super) const MAX_README_LINES: usize = 145;

/// Counts that a crate may not exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CrateLimits {
    /// Name of the crate's folder.
    pub(super) name: &'static str,
    /// Doc comments that begin with a question word, where they are more than the goal allows.
    pub(super) question_comments: usize,
    /// Functions with a name that says nothing.
    pub(super) vague_names: usize,
    /// Names that several types have.
    pub(super) repeated_types: usize,
    /// Tuples as parameters of functions.
    pub(super) tuple_parameters: usize,
    /// Files in rings of more than [`MAX_RING_FILES`] files.
    pub(super) ring_files: usize,
}

/// The goals.
const GOALS: CrateLimits = CrateLimits {
    name: "",
    question_comments: 0,
    vague_names: 0,
    repeated_types: 0,
    tuple_parameters: 0,
    ring_files: 0,
};

/// Crates that miss a goal.
const LIMITS: &[CrateLimits] = &[
    CrateLimits {
        name: "engine",
        tuple_parameters: 3,
        ..GOALS
    },
    CrateLimits {
        name: "publishing",
        repeated_types: 1,
        tuple_parameters: 4,
        ..GOALS
    },
    CrateLimits {
        name: "server",
        repeated_types: 1,
        ..GOALS
    },
    CrateLimits {
        name: "site",
        repeated_types: 2,
        ..GOALS
    },
];

/// Limits of a crate by the name of its folder.
pub(super) fn find(name: &str) -> CrateLimits {
    let listed = LIMITS.iter().find(|limits| limits.name == name);
    listed.copied().unwrap_or(GOALS)
}

#[cfg(test)]
mod tests {
    use super::{GOALS, LIMITS, find};

    #[test]
    fn crates_are_listed_once_and_only_if_they_miss_a_goal() {
        for (place, limits) in LIMITS.iter().enumerate() {
            assert_eq!(find(limits.name), LIMITS[place]);
            let goals = super::CrateLimits {
                name: limits.name,
                ..GOALS
            };
            assert_ne!(*limits, goals, "{} can go", limits.name);
        }
        assert_eq!(find("no such crate"), GOALS);
    }
}
