//! A problem on its way out. Boxed, because a result should be small where nothing goes wrong.

pub mod keyed;

use searchwright_contract::{Code, Fault, Problem};
use searchwright_store::{
    Error,
    usage::{BudgetExceeded, QuotaExceeded},
};

/// Result of whatever a caller asked for.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// A call that failed.
#[derive(Debug)]
pub struct Failure(pub Box<Problem>);

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self(Box::new(problem))
    }
}

impl From<Box<Problem>> for Failure {
    fn from(problem: Box<Problem>) -> Self {
        Self(problem)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let problem = match error {
            Error::Overloaded => Problem::new(
                Code::Overloaded,
                "too much is waiting to be written or to be done",
            )
            .after(1),
            Error::TooSlow => Problem::new(
                Code::Overloaded,
                "the query took too long and was ended; narrow it by a filter, or try again later",
            )
            .after(5),
            Error::Full => Problem::new(
                Code::StorageFull,
                "nothing can be written until there is space again",
            )
            .after(60),
            Error::Unavailable(why) => {
                tracing::error!(why, "storage unavailable");
                Problem::new(
                    Code::StorageUnavailable,
                    "the database cannot be used at the moment",
                )
                .after(5)
            }
            other => {
                tracing::error!(error = %other, "storage failed");
                Problem::new(Code::InternalError, "the request could not be carried out")
            }
        };
        problem.into()
    }
}

impl From<getrandom::Error> for Failure {
    fn from(error: getrandom::Error) -> Self {
        defect("no randomness", error)
    }
}

impl From<QuotaExceeded> for Failure {
    fn from(exceeded: QuotaExceeded) -> Self {
        let QuotaExceeded {
            metric,
            limit,
            used,
            resets_at,
        } = exceeded;
        Problem::new(
            Code::QuotaExceeded,
            format!("{used} of {limit} {metric} are used this month"),
        )
        .hint("wait until resetsAt, or let the operator raise the quota")
        .with("metric", metric.as_str())
        .with("limit", limit)
        .with("used", used)
        .with("resetsAt", resets_at.to_string())
        .into()
    }
}

impl From<BudgetExceeded> for Failure {
    fn from(over: BudgetExceeded) -> Self {
        let BudgetExceeded {
            provider,
            limit,
            used,
            resets_at,
        } = over;
        let dollars = |micros: i64| format!("{}.{:02}", micros / 1_000_000, micros % 1_000_000 / 10_000);
        let place = match &provider {
            Some(provider) => format!("at {provider} this month"),
            None => "today (UTC)".to_owned(),
        };
        let detail = format!(
            "{} of {} USD are spent {place}, and this may cost more than is left",
            dollars(used),
            dollars(limit),
        );
        let mut problem = Problem::new(Code::QuotaExceeded, detail)
            .hint("wait until resetsAt, or let the operator raise the budget")
            .with("metric", "spend_micros_usd")
            .with("limit", limit)
            .with("used", used)
            .with("resetsAt", resets_at.to_string());
        if let Some(provider) = provider {
            problem = problem.with("provider", provider);
        }
        problem.into()
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        *failure.0
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Failure {}

/// A failure of our own making, logged with its cause and answered without it.
pub fn defect(what: &'static str, cause: impl std::fmt::Display) -> Failure {
    tracing::error!(%cause, what, "internal error");
    Problem::new(Code::InternalError, "the request could not be carried out").into()
}

/// One fault of one argument.
pub fn fault(pointer: &str, code: &str, detail: impl Into<String>) -> Failure {
    Problem::faults(vec![Fault {
        pointer: pointer.to_owned(),
        code: code.to_owned(),
        detail: detail.into(),
    }])
    .into()
}

/// Member of the problem of [`changed_meanwhile`].
const CHANGED: &str = "changed_meanwhile";

/// Refusal of a change of a record that others have changed since it was read for this change. The call is carried out anew.
pub fn changed_meanwhile() -> Failure {
    Problem::new(
        Code::Overloaded,
        "the record was changed by others again and again while this change was carried out",
    )
    .with("reason", CHANGED)
    .after(1)
    .into()
}

/// Returns whether a failure is [`changed_meanwhile`].
pub fn is_change_meanwhile(failure: &Failure) -> bool {
    failure.0.code == Code::Overloaded
        && failure
            .0
            .extra
            .get("reason")
            .is_some_and(|reason| reason == CHANGED)
}
