//! The body of a request: the first byte chooses an operation, the rest is JSON.

use std::sync::LazyLock;

use searchwright_contract::json::parse;
use searchwright_engine::{Endpoint, endpoint};
use serde_json::Value;

static ENDPOINTS: LazyLock<Vec<Endpoint>> = LazyLock::new(|| endpoint::all().expect("the table compiles"));

/// The same, but for the last digit of numbers with more digits than a double has.
fn alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            let same = |((m, a), (n, b)): ((&String, &Value), (&String, &Value))| m == n && alike(a, b);
            a.len() == b.len() && a.iter().zip(b).all(same)
        }
        (Value::Number(a), Value::Number(b)) if a != b => {
            let near = |(a, b): (f64, f64)| (a - b).abs() <= a.abs() * 1e-15;
            a.as_f64().zip(b.as_f64()).is_some_and(near)
        }
        (a, b) => a == b,
    }
}

/// Reads one input.
pub fn run(data: &[u8]) {
    let Some((first, body)) = data.split_first() else {
        return;
    };
    let Ok(value) = parse(body) else { return };
    let lax: Value = serde_json::from_slice(body).expect("strict is stricter");
    assert_eq!(lax.is_object(), value.is_object());
    let written = serde_json::to_vec(&value).expect("it is written");
    let again = parse(&written).expect("it is read again");
    assert!(alike(&again, &value), "{again} and {value}");
    let endpoint = &ENDPOINTS[usize::from(*first) % ENDPOINTS.len()];
    for fault in endpoint.shape.faults(&value).named() {
        assert!(
            fault.pointer.is_empty() || fault.pointer.starts_with('/'),
            "{fault:?}"
        );
    }
}
