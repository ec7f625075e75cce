//! Sums of the cells of a period by cluster, a prompt and a series.

use hashbrown::HashMap;

use super::{DayRange, OverviewInput, RollupRow};
use crate::{cells::Tally, prompts::PromptClass, statistics::Cluster};

/// A prompt and a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ClusterKey {
    pub(super) prompt: u32,
    pub(super) series: u32,
}

/// Sums of a cluster in both periods.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClusterSums {
    pub(super) key: ClusterKey,
    pub(super) now: Tally,
    pub(super) before: Tally,
}

/// Sums of the prompts of a class.
pub(super) struct Samples<'a> {
    pub(super) clusters: Vec<ClusterSums>,
    /// Rows of the period, with the place of their cluster.
    pub(super) rows: Vec<PlacedRow<'a>>,
    pub(super) total: Tally,
}

/// A row of the period.
pub(super) struct PlacedRow<'a> {
    pub(super) cluster: usize,
    pub(super) row: &'a RollupRow,
}

impl<'a> Samples<'a> {
    pub(super) fn new(input: &OverviewInput<'a>, class: Option<PromptClass>) -> Self {
        let mut places: HashMap<ClusterKey, usize> = HashMap::new();
        let mut samples = Self {
            clusters: Vec::new(),
            rows: Vec::new(),
            total: Tally::default(),
        };
        for row in input.rows {
            let is_known = (row.series as usize) < input.series.len();
            let prompt = input.prompts.get(row.prompt as usize).filter(|_| is_known);
            if prompt.is_none_or(|prompt| class.is_some_and(|class| class != prompt.class)) {
                continue;
            }
            samples.add(input.period, input.previous, row, &mut places);
        }
        // the order of the rows is of no importance
        samples.sort();
        samples
    }

    fn add(
        &mut self,
        period: DayRange,
        previous: DayRange,
        row: &'a RollupRow,
        places: &mut HashMap<ClusterKey, usize>,
    ) {
        let is_now = period.contains(row.day);
        if !is_now && !previous.contains(row.day) {
            return;
        }
        let key = ClusterKey {
            prompt: row.prompt,
            series: row.series,
        };
        let cluster = *places.entry(key).or_insert(self.clusters.len());
        if cluster == self.clusters.len() {
            self.clusters.push(ClusterSums {
                key,
                now: Tally::default(),
                before: Tally::default(),
            });
        }
        if is_now {
            self.clusters[cluster].now.merge(&row.cell.tally);
            self.total.merge(&row.cell.tally);
            self.rows.push(PlacedRow { cluster, row });
        } else {
            self.clusters[cluster].before.merge(&row.cell.tally);
        }
    }

    fn sort(&mut self) {
        let mut order: Vec<usize> = (0..self.clusters.len()).collect();
        order.sort_by_key(|place| self.clusters[*place].key);
        let mut moved = vec![0; order.len()];
        for (to, from) in order.iter().enumerate() {
            moved[*from] = to;
        }
        self.clusters.sort_by_key(|sums| sums.key);
        for row in &mut self.rows {
            row.cluster = moved[row.cluster];
        }
    }

    /// Returns the clusters that have answers in both periods.
    pub(super) fn common(&self) -> Vec<ClusterSums> {
        let both = self
            .clusters
            .iter()
            .filter(|sums| sums.now.answers > 0 && sums.before.answers > 0);
        both.copied().collect()
    }
}

/// Counts of a rate in a tally.
pub(super) type RateCounts = fn(&Tally) -> Cluster;

/// Answers that mention the own brand.
pub(super) fn mentions(tally: &Tally) -> Cluster {
    Cluster {
        hits: tally.mentioned,
        answers: tally.evaluated,
    }
}

/// Answers that cite an own page.
pub(super) fn citations(tally: &Tally) -> Cluster {
    Cluster {
        hits: tally.cited,
        answers: tally.citation_observable,
    }
}
