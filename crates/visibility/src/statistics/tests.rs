use proptest::prelude::{any, prop_assert, proptest};

use super::*;

fn near(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance,
        "{found}, expected {expected}"
    );
}

fn clusters(pairs: &[[u64; 2]]) -> Vec<Cluster> {
    let cluster = |pair: &[u64; 2]| Cluster {
        hits: pair[0],
        answers: pair[1],
    };
    pairs.iter().map(cluster).collect()
}

#[test]
fn wilson_intervals_of_known_rates() {
    for [hits, n, low, high] in [
        [0.0, 10.0, 0.0, 0.2775],
        [8.0, 20.0, 0.2188, 0.6134],
        [40.0, 100.0, 0.3094, 0.4980],
        [10.0, 10.0, 0.7225, 1.0],
        [18.0, 40.0, 0.3071, 0.6017],
    ] {
        let interval = wilson(hits / n, n);
        near(interval.low, low, 5e-5);
        near(interval.high, high, 5e-5);
    }
}

#[test]
fn repeats_widen_the_interval() {
    let counts = [[5, 5], [5, 5], [0, 5], [0, 5], [2, 5], [0, 5], [1, 5], [5, 5]];
    let design = design(&clusters(&counts)).unwrap();
    near(design.icc, 0.7733, 5e-5);
    near(design.effect, 4.0933, 5e-5);
    let rate = Rate::from_clusters(&clusters(&counts));
    assert_eq!(rate.value, Some(0.45));
    near(rate.n_eff.unwrap(), 9.77, 5e-3);
    near(rate.ci_low.unwrap(), 0.1995, 5e-5);
    near(rate.ci_high.unwrap(), 0.7288, 5e-5);
}

#[test]
fn one_answer_each_and_one_cluster_are_plain() {
    for counts in [&[[1, 1], [0, 1], [1, 1]][..], &[[3, 9]], &[[3, 9], [0, 0]]] {
        assert_eq!(design(&clusters(counts)).unwrap().effect, 1.0);
    }
    assert_eq!(design(&clusters(&[[0, 0]])), None);
    assert_eq!(design(&clusters(&[[5, 5], [5, 5]])).unwrap().effect, 1.0);
}

#[test]
fn nothing_measured_is_null() {
    let json = serde_json::to_value(Rate::from_clusters(&[])).unwrap();
    assert_eq!(
        json,
        serde_json::json!({"value": null, "numerator": 0.0, "denominator": 0.0, "ciLow": null, "ciHigh": null,
            "nEff": null, "method": "none"})
    );
}

#[test]
fn newcombe_interval_of_a_known_difference() {
    let at = |value| Proportion { value, n_eff: 100.0 };
    let interval = newcombe(at(0.4), at(0.6));
    near(interval.low, 0.0614, 5e-5);
    near(interval.high, 0.3281, 5e-5);
}

#[test]
fn verdicts() {
    let ones = |hits: usize, n: usize| -> Vec<Cluster> {
        let cluster = |i| Cluster {
            hits: u64::from(i < hits),
            answers: 1,
        };
        (0..n).map(cluster).collect()
    };
    let verdict = |before: &[Cluster], after: &[Cluster]| Change::from_clusters(before, after).verdict;
    assert_eq!(verdict(&ones(40, 100), &ones(60, 100)), Verdict::Up);
    assert_eq!(verdict(&ones(60, 100), &ones(40, 100)), Verdict::Down);
    assert_eq!(verdict(&ones(40, 100), &ones(45, 100)), Verdict::WithinNoise);
    // a single sample is never a trend
    assert_eq!(verdict(&ones(0, 1), &ones(1, 1)), Verdict::InsufficientData);
    assert_eq!(verdict(&ones(0, 19), &ones(100, 100)), Verdict::InsufficientData);
    assert_eq!(verdict(&[], &ones(100, 100)), Verdict::InsufficientData);
}

#[test]
fn grades_by_half_width() {
    let grade = |points: f64| {
        let interval = Interval {
            low: 50.0 - points,
            high: 50.0 + points,
        };
        Grade::from_interval(Some(interval), 100.0)
    };
    assert_eq!(
        [5.0, 5.01, 10.0, 20.0, 20.01].map(grade),
        [Grade::Good, Grade::Fair, Grade::Fair, Grade::Weak, Grade::Thin]
    );
    assert_eq!(Grade::from_interval(None, 1.0), Grade::Thin);
    assert!(Grade::Good > Grade::Thin);
}

#[test]
fn guidance_on_sample_sizes() {
    assert_eq!(answers_for_half_width(10.0), 97);
    assert_eq!(answers_for_half_width(5.0), 385);
}

#[test]
fn stability_of_sources() {
    assert_eq!(stability(&[vec![1, 2]]), None);
    assert_eq!(stability(&[vec![1, 2], vec![0, 0]]), None);
    assert_eq!(stability(&[vec![1, 2], vec![2, 4]]), Some(100.0));
    assert_eq!(stability(&[vec![1, 0], vec![0, 4]]), Some(0.0));
    near(
        stability(&[vec![1, 1], vec![1, 0], vec![1, 1]]).unwrap(),
        50.0,
        1e-9,
    );
}

#[test]
fn bootstrap_repeats_and_needs_five_prompts() {
    let values = [0.1, 0.9, 0.4, 0.5, 0.6, 0.7];
    let mean = |weights: &[u32]| {
        let sum: f64 = weights.iter().zip(values).map(|(w, v)| f64::from(*w) * v).sum();
        Some(sum / weights.iter().sum::<u32>() as f64)
    };
    let bootstrap = Bootstrap::new(b"project", 20_000, 20_027);
    let interval = bootstrap.interval(6, mean).unwrap();
    assert_eq!(Some(interval), bootstrap.interval(6, mean));
    assert_ne!(
        Some(interval),
        Bootstrap::new(b"project", 20_000, 20_028).interval(6, mean)
    );
    assert!(interval.low < 0.533 && interval.high > 0.533, "{interval:?}");
    // the standard error of the mean is 0.103
    near(interval.high - interval.low, 2.0 * 1.96 * 0.103, 0.06);
    assert_eq!(bootstrap.interval(4, |_| Some(1.0)), None);
    assert_eq!(bootstrap.interval(6, |_| None), None);
}

proptest! {
    #[test]
    fn intervals_hold_their_rate(hits in proptest::collection::vec(any::<u8>(), 1..20), more in 0_u8..9) {
        let cluster = |hits: &u8| Cluster { hits: u64::from(*hits), answers: u64::from(*hits) + u64::from(more) };
        let clusters: Vec<Cluster> = hits.iter().map(cluster).collect();
        let rate = Rate::from_clusters(&clusters);
        if let Some(value) = rate.value {
            let interval = rate.interval().unwrap();
            prop_assert!(0.0 <= interval.low && interval.low <= value + 1e-12);
            prop_assert!(value <= interval.high + 1e-12 && interval.high <= 1.0);
            prop_assert!(rate.n_eff.unwrap() <= rate.denominator);
        } else {
            prop_assert!(clusters.iter().all(|c| c.answers == 0));
        }
    }
}
