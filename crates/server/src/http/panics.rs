//! A defect that panics costs its own request, and is answered: without this the connection would end
//! without a word, and with it whatever else was under way on it (HTTP/2).

use std::{future::Future, panic::AssertUnwindSafe};

use futures_util::FutureExt as _;
use searchwright_engine::{Failure, failure::defect};

/// The outcome of a call, `500 internal_error` if it panics. What it holds is dropped as after any failure:
/// places, connections and transactions give themselves back.
pub async fn caught<T>(call: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    AssertUnwindSafe(call)
        .catch_unwind()
        .await
        .unwrap_or_else(|panic| {
            let said = panic.downcast_ref::<&str>().copied().map(str::to_owned);
            let said = said.or_else(|| panic.downcast_ref::<String>().cloned());
            Err(defect("a call panicked", said.unwrap_or_default()))
        })
}

#[cfg(test)]
mod tests {
    use searchwright_contract::{Code, Problem};

    use super::caught;

    #[tokio::test]
    async fn a_panic_is_an_answer() {
        let panicked = caught::<()>(async { panic!("a secret in a message") })
            .await
            .unwrap_err();
        assert_eq!(panicked.0.code, Code::InternalError);
        assert!(!panicked.0.detail.contains("secret"));
        let refused = caught::<()>(async { Err(Problem::not_found("keyword").into()) })
            .await
            .unwrap_err();
        assert_eq!(refused.0.code, Code::NotFound);
        assert!(caught(async { Ok(5) }).await.is_ok_and(|n| n == 5));
    }
}
