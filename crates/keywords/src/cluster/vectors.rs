//! Likeness of keywords.

use std::collections::HashMap;

use super::LIKENESS;
use crate::words::Lexicon;

/// Weights of features, by feature in ascending order; of length 1 unless empty.
type Vector = Vec<(u32, f32)>;

/// Pairs of texts that may come together, `(smaller index, larger index, likeness)`.
pub(super) fn alike(texts: &[String], lexicon: &Lexicon) -> Vec<(u32, u32, f32)> {
    let stems: Vec<Vec<String>> = texts
        .iter()
        .map(|text| {
            let mut stems: Vec<String> = lexicon.content_stems(text).into_iter().map(Into::into).collect();
            // a bag of words has no order
            stems.sort_unstable();
            stems
        })
        .collect();
    let words = vectors(stems.iter().cloned());
    let grams = vectors(
        stems
            .iter()
            .map(|stems| stems.iter().flat_map(|s| grams(s)).collect()),
    );

    let mut holders: HashMap<u32, Vec<(u32, f32)>> = HashMap::new();
    let mut cosines = vec![0f32; texts.len()];
    let mut touched: Vec<u32> = Vec::new();
    let mut pairs = Vec::new();
    // with the n-grams quite equal, the stems must be this much alike still
    let least = (2.0 * LIKENESS - 1.0) as f32;
    for (i, vector) in words.iter().enumerate() {
        for (feature, weight) in vector {
            let holders = holders.entry(*feature).or_default();
            for (j, other) in holders.iter() {
                let cosine = &mut cosines[*j as usize];
                if *cosine == 0.0 {
                    touched.push(*j);
                }
                *cosine += weight * other;
            }
            holders.push((i as u32, *weight));
        }
        touched.sort_unstable();
        for j in touched.drain(..) {
            let cosine = std::mem::take(&mut cosines[j as usize]);
            if cosine >= least {
                let likeness = (cosine + dot(&grams[i], &grams[j as usize])) / 2.0;
                pairs.push((j, i as u32, likeness));
            }
        }
    }
    pairs
}

/// The character 3- to 5-grams of a stem between two marks of its ends.
fn grams(stem: &str) -> Vec<String> {
    let chars: Vec<char> = format!(" {stem} ").chars().collect();
    (3..=5)
        .flat_map(|n| chars.windows(n))
        .map(|gram| gram.iter().collect())
        .collect()
}

/// TF-IDF vectors of bags of features, with the smooth IDF `ln((1 + n) / (1 + df)) + 1`.
fn vectors(bags: impl Iterator<Item = Vec<String>>) -> Vec<Vector> {
    let mut ids: HashMap<String, u32> = HashMap::new();
    let mut frequency: Vec<u32> = Vec::new();
    let mut all: Vec<Vector> = bags
        .map(|bag| {
            let mut counts: Vec<u32> = bag
                .into_iter()
                .map(|feature| {
                    let next = ids.len() as u32;
                    *ids.entry(feature).or_insert(next)
                })
                .collect();
            counts.sort_unstable();
            frequency.resize(ids.len(), 0);
            let vector: Vector = counts
                .chunk_by(|a, b| a == b)
                .map(|same| (same[0], same.len() as f32))
                .collect();
            for (id, _) in &vector {
                frequency[*id as usize] += 1;
            }
            vector
        })
        .collect();
    let n = all.len() as f32;
    for vector in &mut all {
        for (id, weight) in vector.iter_mut() {
            *weight *= ((1.0 + n) / (1.0 + frequency[*id as usize] as f32)).ln() + 1.0;
        }
        let length = vector.iter().map(|(_, w)| w * w).sum::<f32>().sqrt();
        for (_, weight) in vector.iter_mut() {
            *weight /= length;
        }
    }
    all
}

fn dot(a: &[(u32, f32)], b: &[(u32, f32)]) -> f32 {
    let (mut i, mut j, mut sum) = (0, 0, 0.0);
    while let (Some((x, v)), Some((y, w))) = (a.get(i), b.get(j)) {
        match x.cmp(y) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                sum += v * w;
                i += 1;
                j += 1;
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::{alike, dot, grams, vectors};
    use crate::words::Lexicon;

    #[test]
    fn grams_mark_the_ends() {
        assert_eq!(grams("ab"), [" ab", "ab ", " ab "]);
        assert_eq!(grams("a"), [" a "]);
    }

    #[test]
    fn rare_features_weigh_more() {
        let bag = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let all = vectors([bag("desk lamp"), bag("desk desk"), bag("desk")].into_iter());
        let weight = |id: u32| all[0].iter().find(|(i, _)| *i == id).unwrap().1;
        assert!(weight(1) > weight(0));
        // IDF by hand: desk in 3 of 3, lamp in 1 of 3
        let (desk, lamp) = (1.0f32, 2f32.ln() + 1.0);
        assert!((weight(1) - lamp / (desk * desk + lamp * lamp).sqrt()).abs() < 1e-6);
        assert!((dot(&all[1], &all[2]) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn equal_bags_are_one() {
        let texts = ["blue desk", "the desks in blue", "lamp"].map(str::to_owned);
        let pairs = alike(&texts, &Lexicon::for_language("en"));
        assert_eq!(pairs.len(), 1);
        assert_eq!((pairs[0].0, pairs[0].1), (0, 1));
        assert!((pairs[0].2 - 1.0).abs() < 1e-6);
    }
}
