//! Sums of the cells of a period by cluster, a prompt and a series.

use hashbrown::HashMap;

use super::{
    MAX_PERIOD_DAYS, OverviewInput, PromptCells,
    sources::{BlockSums, Sources},
};
use crate::{
    cells::{BrandTally, DamagedCells, MapCells, Tally, TallyCell, Unpacker},
    statistics::Cluster,
};

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

/// Counts of a cluster on a day.
#[derive(Clone, Copy, Debug)]
pub(super) struct DayCounts {
    /// Place of the cluster.
    pub(super) cluster: usize,
    pub(super) answers: u64,
    pub(super) mentions: Cluster,
    pub(super) citations: Cluster,
}

impl DayCounts {
    fn add(&mut self, other: &Self) {
        self.answers += other.answers;
        for (sum, counts) in [
            (&mut self.mentions, other.mentions),
            (&mut self.citations, other.citations),
        ] {
            sum.hits += counts.hits;
            sum.answers += counts.answers;
        }
    }
}

/// Sums of a brand in a period.
#[derive(Clone, Debug, Default)]
pub(super) struct BrandSums {
    pub(super) tally: BrandTally,
    /// Answers that mention it, by cluster.
    pub(super) mentioned: Vec<u64>,
}

/// Sums of the prompts of a class.
pub(super) struct Samples {
    pub(super) clusters: Vec<ClusterSums>,
    /// Counts of each day of the period, in the order of the clusters.
    pub(super) days: Vec<Vec<DayCounts>>,
    /// Sums of the brands in the order of the input.
    pub(super) brands: Vec<BrandSums>,
    pub(super) total: Tally,
    places: HashMap<ClusterKey, usize>,
    series: HashMap<i64, u32>,
    brand_places: HashMap<String, usize>,
}

impl Samples {
    pub(super) fn new(input: &OverviewInput<'_>) -> Self {
        let days = (input.period.to - input.period.from + 1).clamp(0, MAX_PERIOD_DAYS) as usize;
        let places = input.brands.iter().enumerate();
        Self {
            clusters: Vec::new(),
            days: vec![Vec::new(); days],
            brands: vec![BrandSums::default(); input.brands.len()],
            total: Tally::default(),
            places: HashMap::new(),
            series: (0u32..)
                .zip(input.series)
                .map(|(place, series)| (series.id, place))
                .collect(),
            brand_places: places.map(|(place, brand)| (brand.id.clone(), place)).collect(),
        }
    }

    /// Adds the cells of a prompt. Brands and sources are read where sources are wanted.
    pub(super) fn add<'a>(
        &mut self,
        input: &OverviewInput<'a>,
        prompt: &PromptCells<'a>,
        sources: Option<&mut Sources<'a>>,
    ) -> Result<(), DamagedCells> {
        let tallies = prompt.cells.tallies()?;
        let series: Vec<Option<u32>> = tallies
            .series
            .iter()
            .map(|id| self.series.get(id).copied())
            .collect();
        let mut clusters = vec![None; series.len()];
        let mut is_now = false;
        for cell in &tallies.cells {
            let Some(series) = series[cell.series] else {
                continue;
            };
            if input.period.contains(cell.day) {
                is_now = true;
            } else if !input.previous.contains(cell.day) {
                continue;
            }
            let cluster = clusters[cell.series].get_or_insert_with(|| {
                self.cluster(ClusterKey {
                    prompt: prompt.prompt,
                    series,
                })
            });
            self.add_tally(input, *cluster, cell);
        }
        let Some(sources) = sources.filter(|_| is_now) else {
            return Ok(());
        };
        let mut maps = prompt.cells.maps()?;
        let mut of_block = BlockSums::new(prompt.cells.block, &maps);
        let brands: Vec<Option<usize>> = maps
            .brands
            .iter()
            .map(|id| self.brand_places.get(*id).copied())
            .collect();
        for cell in &tallies.cells {
            let mut body = maps.next_cell()?;
            let (Some(series), Some(cluster)) = (series[cell.series], clusters[cell.series]) else {
                continue;
            };
            if input.period.contains(cell.day) {
                self.add_brands(&maps, &mut body, &brands, cluster)?;
                of_block.add(&maps, &mut body, cell.day, series)?;
            }
        }
        sources.add(&maps, &of_block);
        Ok(())
    }

    fn cluster(&mut self, key: ClusterKey) -> usize {
        let place = *self.places.entry(key).or_insert(self.clusters.len());
        if place == self.clusters.len() {
            self.clusters.push(ClusterSums {
                key,
                now: Tally::default(),
                before: Tally::default(),
            });
            for brand in &mut self.brands {
                brand.mentioned.push(0);
            }
        }
        place
    }

    fn add_tally(&mut self, input: &OverviewInput<'_>, cluster: usize, cell: &TallyCell) {
        if !input.period.contains(cell.day) {
            self.clusters[cluster].before.merge(&cell.tally);
            return;
        }
        self.clusters[cluster].now.merge(&cell.tally);
        if let Some(day) = self.days.get_mut((cell.day - input.period.from) as usize) {
            day.push(DayCounts {
                cluster,
                answers: cell.tally.answers,
                mentions: mentions(&cell.tally),
                citations: citations(&cell.tally),
            });
        }
    }

    fn add_brands(
        &mut self,
        maps: &MapCells<'_>,
        body: &mut Unpacker<'_>,
        places: &[Option<usize>],
        cluster: usize,
    ) -> Result<(), DamagedCells> {
        maps.brands(body, |place, tally| {
            if let Some(brand) = places[place] {
                let sums = &mut self.brands[brand];
                sums.tally.merge(tally);
                sums.mentioned[cluster] += tally.mentioned;
            }
        })
    }

    /// Adds the sums of other cells.
    pub(super) fn merge(&mut self, other: Self) {
        let mut moved = Vec::with_capacity(other.clusters.len());
        for sums in &other.clusters {
            let place = self.cluster(sums.key);
            self.clusters[place].now.merge(&sums.now);
            self.clusters[place].before.merge(&sums.before);
            moved.push(place);
        }
        for (day, of_other) in self.days.iter_mut().zip(other.days) {
            day.extend(of_other.into_iter().map(|counts| DayCounts {
                cluster: moved[counts.cluster],
                ..counts
            }));
        }
        for (brand, of_other) in self.brands.iter_mut().zip(&other.brands) {
            brand.tally.merge(&of_other.tally);
            for (place, mentioned) in moved.iter().zip(&of_other.mentioned) {
                brand.mentioned[*place] += mentioned;
            }
        }
    }

    /// Puts the clusters in order: sums of fractions depend on it, and the order of the cells is of no importance.
    pub(super) fn sort(&mut self) {
        let mut order: Vec<usize> = (0..self.clusters.len()).collect();
        order.sort_by_key(|place| self.clusters[*place].key);
        let mut moved = vec![0; order.len()];
        for (to, from) in order.iter().enumerate() {
            moved[*from] = to;
        }
        self.clusters.sort_by_key(|sums| sums.key);
        for brand in &mut self.brands {
            brand.mentioned = order.iter().map(|from| brand.mentioned[*from]).collect();
        }
        for day in &mut self.days {
            for counts in &mut *day {
                counts.cluster = moved[counts.cluster];
            }
            day.sort_unstable_by_key(|counts| counts.cluster);
            day.dedup_by(|next, first| {
                let is_same = next.cluster == first.cluster;
                if is_same {
                    first.add(next);
                }
                is_same
            });
        }
        for sums in &self.clusters {
            self.total.merge(&sums.now);
        }
    }

    /// Returns the clusters that both periods have. What a figure counts differs, so each tells by itself what it has: the
    /// searches that showed no overview are no answers, and not every answer shows its sources.
    pub(super) fn common(&self, is_measured: impl Fn(&Tally) -> bool) -> Vec<&ClusterSums> {
        let both = self
            .clusters
            .iter()
            .filter(|sums| is_measured(&sums.now) && is_measured(&sums.before));
        both.collect()
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
