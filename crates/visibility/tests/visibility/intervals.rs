//! Intervals against those of statsmodels (see `tests/data/intervals.py`).

use searchwright_visibility::statistics::{Proportion, newcombe, wilson};

const TOLERANCE: f64 = 1e-9;

#[test]
fn intervals_equal_those_of_statsmodels() {
    let mut cases = 0;
    for line in include_str!("../data/intervals.csv").lines().skip(1) {
        let fields: Vec<f64> = line.split(',').map(|field| field.parse().unwrap()).collect();
        let [k1, n1, k2, n2, low, high, difference_low, difference_high] = fields[..] else {
            panic!("{line}");
        };
        let before = Proportion {
            value: k1 / n1,
            n_eff: n1,
        };
        let after = Proportion {
            value: k2 / n2,
            n_eff: n2,
        };
        let interval = wilson(before.value, n1);
        let difference = newcombe(before, after);
        for (found, expected) in [
            (interval.low, low),
            (interval.high, high),
            (difference.low, difference_low),
            (difference.high, difference_high),
        ] {
            assert!((found - expected).abs() < TOLERANCE, "{line}: {found}");
        }
        cases += 1;
    }
    assert_eq!(cases, 200);
}
