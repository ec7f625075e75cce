//! Cited domains with their pages, and their stability from day to day.

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::{DayRange, MAX_PERIOD_DAYS, MAX_SOURCES, OverviewInput};
use crate::{
    cells::{BLOCK_DAYS, DamagedCells, MapCells, PageText, SourceTally, Unpacker},
    sources::{SourceClass, SourceType},
    statistics::stability,
};

/// Number of pages listed per source.
const MAX_TOP_URLS: usize = 5;

/// A domain that answers cite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CitedSource {
    /// Registrable domain.
    pub domain: String,
    /// Relation to the brands.
    pub class: SourceClass,
    /// Type, of a third party.
    #[serde(rename = "type")]
    pub source_type: Option<SourceType>,
    /// Number of answers that cite it.
    pub answers: u64,
    /// Number of cited pages.
    pub citations: u64,
    /// Share of all cited pages.
    pub share: f64,
    /// Engines that cite it.
    pub engines: Vec<String>,
    /// Most cited pages.
    pub top_urls: Vec<String>,
    /// Answers that cite it and mention the own brand.
    pub mentions_own: u64,
    /// Answers that cite it and mention a competitor.
    pub mentions_competitors: u64,
}

/// Citations of a day by the owner of the cited page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DayCitations {
    /// Of the own brand.
    pub owned: u64,
    /// Of competitors.
    pub competitor: u64,
    /// Of others.
    pub third_party: u64,
}

/// Sums of a domain.
#[derive(Clone, Copy, Debug, Default)]
struct SourceSum {
    /// Class and type; `None` without answers.
    kind: Option<(SourceClass, Option<SourceType>)>,
    tally: SourceTally,
}

impl SourceSum {
    fn add(&mut self, class: SourceClass, source_type: Option<SourceType>, tally: &SourceTally) {
        let (known, of_known) = self.kind.unwrap_or((class, source_type));
        // a domain that became a brand's own counts as its own
        self.kind = Some((known.min(class), of_known.min(source_type)));
        self.tally.merge(tally);
    }
}

/// A domain in a period.
struct PeriodSource<'a> {
    domain: &'a str,
    sum: SourceSum,
    /// Places of the series that cite it.
    series: Vec<u32>,
    /// Citations by day.
    days: Vec<u64>,
}

impl PeriodSource<'_> {
    fn add_series(&mut self, series: u32) {
        if !self.series.contains(&series) {
            self.series.push(series);
        }
    }
}

/// Citations of a page.
struct PageSum<'a> {
    page: PageText<'a>,
    citations: u64,
}

/// Sums of the cited domains and pages of a period.
pub(super) struct Sources<'a> {
    period: DayRange,
    domains: Vec<PeriodSource<'a>>,
    domain_places: HashMap<&'a str, usize>,
    pages: Vec<PageSum<'a>>,
    page_places: HashMap<PageText<'a>, usize>,
}

/// Sums of a block by the places of its texts: few enough to stay near the processor.
pub(super) struct BlockSums {
    first_day: i32,
    domains: Vec<SourceSum>,
    pages: Vec<u64>,
    /// Citations by domain and day.
    days: Vec<u64>,
    /// Places of domains and of the series that cite them.
    series: Vec<(usize, u32)>,
    /// The last of these series by domain.
    last_series: Vec<Option<u32>>,
}

/// Sources of a period.
pub(super) struct SourceTable {
    pub(super) sources: Vec<CitedSource>,
    /// Citations by day of the period, from the first day on.
    pub(super) days: Vec<DayCitations>,
    pub(super) stability: Option<f64>,
}

impl BlockSums {
    pub(super) fn new(block: i32, maps: &MapCells<'_>) -> Self {
        let domains = maps.domains.len();
        Self {
            first_day: block * BLOCK_DAYS,
            domains: vec![SourceSum::default(); domains],
            pages: vec![0; maps.pages.len()],
            days: vec![0; domains * BLOCK_DAYS as usize],
            series: Vec::new(),
            last_series: vec![None; domains],
        }
    }

    /// Adds the domains and pages of a cell. Cells come by series.
    pub(super) fn add(
        &mut self,
        maps: &MapCells<'_>,
        body: &mut Unpacker<'_>,
        day: i32,
        series: u32,
    ) -> Result<(), DamagedCells> {
        let day = (day - self.first_day) as usize;
        maps.domains(body, |entry| {
            self.domains[entry.domain].add(entry.class, entry.source_type, &entry.tally);
            self.days[entry.domain * BLOCK_DAYS as usize + day] += entry.tally.citations;
            if self.last_series[entry.domain].replace(series) != Some(series) {
                self.series.push((entry.domain, series));
            }
        })?;
        maps.counts(body, |page, count| self.pages[page] += count)
    }
}

impl<'a> Sources<'a> {
    pub(super) fn new(period: DayRange) -> Self {
        Self {
            period,
            domains: Vec::new(),
            domain_places: HashMap::new(),
            pages: Vec::new(),
            page_places: HashMap::new(),
        }
    }

    /// Adds the sums of a block.
    pub(super) fn add(&mut self, maps: &MapCells<'a>, block: &BlockSums) {
        let mut places = vec![usize::MAX; maps.domains.len()];
        for (at, sum) in block.domains.iter().enumerate() {
            let Some((class, source_type)) = sum.kind else {
                continue;
            };
            let place = self.domain(maps.domains[at]);
            places[at] = place;
            let of_period = &mut self.domains[place];
            of_period.sum.add(class, source_type, &sum.tally);
            let days = block
                .days
                .chunks_exact(BLOCK_DAYS as usize)
                .nth(at)
                .unwrap_or_default();
            for (day, citations) in (block.first_day - self.period.from..).zip(days) {
                let of_day = usize::try_from(day)
                    .ok()
                    .and_then(|day| of_period.days.get_mut(day));
                if let Some(of_day) = of_day {
                    *of_day += citations;
                }
            }
        }
        for (at, series) in &block.series {
            self.domains[places[*at]].add_series(*series);
        }
        for (page, citations) in maps.pages.iter().zip(&block.pages) {
            if *citations > 0 {
                self.add_page(places[page.domain], page.url, *citations);
            }
        }
    }

    fn add_page(&mut self, domain: usize, url: &'a str, citations: u64) {
        let page = PageText { domain, url };
        let place = *self.page_places.entry(page).or_insert_with(|| {
            self.pages.push(PageSum { page, citations: 0 });
            self.pages.len() - 1
        });
        self.pages[place].citations += citations;
    }

    /// Adds the sums of other cells.
    pub(super) fn merge(&mut self, other: Self) {
        let mut places = Vec::with_capacity(other.domains.len());
        for source in &other.domains {
            let place = self.domain(source.domain);
            let of_both = &mut self.domains[place];
            if let Some((class, source_type)) = source.sum.kind {
                of_both.sum.add(class, source_type, &source.sum.tally);
            }
            for series in &source.series {
                of_both.add_series(*series);
            }
            for (day, citations) in of_both.days.iter_mut().zip(&source.days) {
                *day += citations;
            }
            places.push(place);
        }
        for sum in &other.pages {
            self.add_page(places[sum.page.domain], sum.page.url, sum.citations);
        }
    }

    fn domain(&mut self, domain: &'a str) -> usize {
        *self.domain_places.entry(domain).or_insert_with(|| {
            let days = (self.period.to - self.period.from + 1).clamp(0, MAX_PERIOD_DAYS) as usize;
            self.domains.push(PeriodSource {
                domain,
                sum: SourceSum::default(),
                series: Vec::new(),
                days: vec![0; days],
            });
            self.domains.len() - 1
        })
    }

    /// Returns the domains in the order of the answers that cite them, and their stability from day to day.
    pub(super) fn table(self, input: &OverviewInput<'_>, citations: u64) -> SourceTable {
        let mut ranked: Vec<usize> = (0..self.domains.len()).collect();
        ranked.sort_by(|a, b| {
            let (a, b) = (&self.domains[*a], &self.domains[*b]);
            let by_answers = b.sum.tally.answers.cmp(&a.sum.tally.answers);
            by_answers.then_with(|| a.domain.cmp(b.domain))
        });
        let days = self.domains.first().map_or(0, |source| source.days.len());
        let of_day = |day| {
            ranked
                .iter()
                .map(|place| self.domains[*place].days[day])
                .collect()
        };
        let mut citations_of_days = vec![DayCitations::default(); days];
        for source in &self.domains {
            let class = source
                .sum
                .kind
                .map_or(SourceClass::ThirdParty, |(class, _)| class);
            for (sums, citations) in citations_of_days.iter_mut().zip(&source.days) {
                *match class {
                    SourceClass::Owned => &mut sums.owned,
                    SourceClass::Competitor => &mut sums.competitor,
                    SourceClass::ThirdParty => &mut sums.third_party,
                } += citations;
            }
        }
        let stability = stability(&(0..days).map(of_day).collect::<Vec<_>>());
        ranked.truncate(MAX_SOURCES);
        let mut pages: Vec<Vec<&PageSum<'_>>> = vec![Vec::new(); self.domains.len()];
        for page in &self.pages {
            pages[page.page.domain].push(page);
        }
        let all = citations.max(1) as f64;
        let source = |place: usize| {
            let source = &self.domains[place];
            let sum = &source.sum;
            let (class, source_type) = sum.kind.unwrap_or((SourceClass::ThirdParty, None));
            let mut engines: Vec<String> = source
                .series
                .iter()
                .map(|series| input.series[*series as usize].engine.clone())
                .collect();
            engines.sort_unstable();
            engines.dedup();
            CitedSource {
                domain: source.domain.to_owned(),
                class,
                source_type,
                answers: sum.tally.answers,
                citations: sum.tally.citations,
                share: sum.tally.citations as f64 / all,
                engines,
                top_urls: top_urls(&mut pages[place]),
                mentions_own: sum.tally.mentions_own,
                mentions_competitors: sum.tally.mentions_competitors,
            }
        };
        SourceTable {
            days: citations_of_days,
            sources: ranked.into_iter().map(source).collect(),
            stability,
        }
    }
}

fn top_urls(pages: &mut [&PageSum<'_>]) -> Vec<String> {
    pages.sort_unstable_by(|a, b| {
        b.citations
            .cmp(&a.citations)
            .then_with(|| a.page.url.cmp(b.page.url))
    });
    let top = pages.iter().take(MAX_TOP_URLS);
    top.map(|page| page.page.url.to_owned()).collect()
}
