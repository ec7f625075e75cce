//! Next steps, ranked by evidence: from the counts of cells, from sentences that contradict the brand data, and from the
//! issues of audits. What they need is read first and computed afterwards, without a transaction.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    ops::RangeInclusive,
};

use searchwright_contract::{
    Instant,
    answers::{Engine, WrongFact},
    ids::PromptId,
    opportunities::{CompetitorMentions, Opportunity, OpportunityKind, WrongSentence},
    projects::Project,
    prompts::{PromptClass, PromptStatus},
};
use searchwright_failure::Result;
use searchwright_store::{
    Tx,
    access::ProjectScope,
    answer_cells::{self, StoredCells},
    answers::{self, Series, StoredAnswer},
    issues::{self, IssueQuery, IssueRow},
    projects,
    prompts::{self, PromptOutline},
};
use searchwright_visibility::{
    cells::blocks_of,
    opportunities::{self as rules, Counted, PageOpportunity, PromptOpportunity, SeriesCell},
    prompts::GapLabel,
    statistics::{Cluster, Rate},
};
use sha2::{Digest as _, Sha256};

use crate::{ProjectDays, TrackedBrands, next_steps, next_steps::cut, overview::contract_rate, stored_cells};

/// Days of the evidence.
const WINDOW_DAYS: i32 = 28;
/// Most entries that are ranked.
const MAX_ENTRIES: usize = 500;
/// Most prompts of an entry.
const MAX_PROMPTS: usize = 20;
/// Most competitors of an entry.
const MAX_COMPETITORS: usize = 10;
/// Most sentences of an entry.
const MAX_SENTENCES: usize = 5;
/// Most answers with wrong facts that are read.
const MAX_WRONG_ANSWERS: u32 = 1_000;
/// Category of the checks on AI agents, and those by which a page is closed to them. That training is refused is a choice of the
/// owner and costs no visibility in answers.
const AI_CATEGORY: &str = "ai";
const BLOCKING_CHECKS: [&str; 4] = [
    "ai-search-bot-blocked",
    "ai-user-bot-blocked",
    "ai-content-signal-blocks",
    "snippet-restricted",
];
/// Most issues of a category.
const MAX_ISSUES: u32 = 100;

/// Everything that entries are made from.
struct Evidence {
    project: Project,
    brands: TrackedBrands,
    prompts: Vec<PromptOutline>,
    series: Vec<Series>,
    /// Cells of active prompts that name no brand.
    rows: Vec<SeriesCell>,
    /// Answers that mention the own brand, by prompt and series, of all prompts.
    mentions: HashMap<(PromptId, i64), u64>,
}

/// Rows of the database from which entries are made.
#[derive(Debug)]
pub struct OpportunityData {
    kind: Option<OpportunityKind>,
    project: Project,
    brands: TrackedBrands,
    prompts: Vec<PromptOutline>,
    series: Vec<Series>,
    window: RangeInclusive<i32>,
    cells: Vec<StoredCells>,
    wrong: Vec<StoredAnswer>,
    issues: Vec<IssueRow>,
}

impl OpportunityData {
    /// Reads them.
    pub async fn load(
        tx: &mut Tx,
        scope: ProjectScope,
        kind: Option<OpportunityKind>,
        now: Instant,
    ) -> Result<Self> {
        let project = projects::get(tx, scope).await?;
        let today = ProjectDays::new(&project.timezone)?.day(now);
        let window = today - WINDOW_DAYS + 1..=today;
        let wants = |of: OpportunityKind| kind.is_none_or(|kind| kind == of);
        let wrong = if wants(OpportunityKind::WrongFact) {
            answers::list_with_wrong_facts(tx, scope, window.clone(), MAX_WRONG_ANSWERS).await?
        } else {
            Vec::new()
        };
        let issues = if wants(OpportunityKind::BlockedAgents) {
            let query = IssueQuery {
                active: Some(true),
                category: Some(AI_CATEGORY.to_owned()),
                limit: MAX_ISSUES,
                ..IssueQuery::default()
            };
            issues::list(tx, scope, query).await?
        } else {
            Vec::new()
        };
        Ok(Self {
            kind,
            brands: TrackedBrands::load(tx, scope, &project).await?,
            prompts: prompts::list_outlines(tx, scope).await?,
            series: answers::list_series(tx, scope).await?,
            cells: answer_cells::list(tx, scope, blocks_of(&window)).await?,
            project,
            window,
            wrong,
            issues,
        })
    }

    /// Returns all entries, best evidence first. Takes time: not within a transaction.
    pub fn compute(self) -> Result<Vec<Opportunity>> {
        let kind = self.kind;
        let wants = |of: OpportunityKind| kind.is_none_or(|kind| kind == of);
        let mut evidence = Evidence {
            project: self.project,
            brands: self.brands,
            prompts: self.prompts,
            series: self.series,
            rows: Vec::new(),
            mentions: HashMap::new(),
        };
        evidence.add(&self.cells, &self.window)?;
        let mut all = Vec::new();
        for gap in rules::prompts(&evidence.rows) {
            all.extend(evidence.prompt(&gap).filter(|entry| wants(entry.kind)));
        }
        if wants(OpportunityKind::CitedThirdParty) {
            let pages = rules::pages(&evidence.rows);
            all.extend(pages.iter().filter_map(|page| evidence.page(page)));
        }
        all.extend(evidence.wrong_facts(&self.wrong));
        let blocking = self
            .issues
            .iter()
            .filter(|issue| BLOCKING_CHECKS.contains(&issue.check_id.as_str()));
        all.extend(blocking.map(|issue| evidence.blocked(issue)));
        all.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id)));
        all.truncate(MAX_ENTRIES);
        Ok(all)
    }
}

/// Returns the identifier of an entry.
fn entry_id(kind: OpportunityKind, subject: &str) -> String {
    let digest = Sha256::digest(format!("{kind}\n{subject}"));
    let hex: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("{kind}-{hex}")
}

/// An entry with nothing but its evidence.
fn entry(kind: OpportunityKind, subject: &str, shown: &Rate) -> Opportunity {
    Opportunity {
        id: entry_id(kind, subject),
        kind,
        title: String::new(),
        why: String::new(),
        score: rules::score(shown),
        rate: Some(contract_rate(shown)),
        thin: shown.denominator < rules::MIN_ANSWERS,
        prompt_ids: Vec::new(),
        engines: Vec::new(),
        competitors: Vec::new(),
        urls: Vec::new(),
        sentences: Vec::new(),
        next_steps: Vec::new(),
    }
}

/// Returns the numbers of a rate: 8 of 10 answers (95 % interval 49 to 94 %).
fn numbers(shown: &Rate) -> String {
    let answers = if shown.denominator == 1.0 {
        "answer"
    } else {
        "answers"
    };
    let mut notes = Vec::new();
    if let Some(interval) = shown.interval() {
        let (low, high) = (100.0 * interval.low, 100.0 * interval.high);
        notes.push(format!("95 % interval {low:.0} to {high:.0} %"));
    }
    if shown.denominator < rules::MIN_ANSWERS {
        notes.push("thin evidence".to_owned());
    }
    let mut text = format!("{} of {} {answers}", shown.numerator, shown.denominator);
    if !notes.is_empty() {
        text += &format!(" ({})", notes.join("; "));
    }
    text
}

impl Evidence {
    /// Adds the cells of some days.
    fn add(&mut self, cells: &[StoredCells], days: &RangeInclusive<i32>) -> Result<()> {
        let counts = |prompt: &PromptOutline| {
            prompt.status == PromptStatus::Active && prompt.class == PromptClass::NonBranded
        };
        let places: HashMap<PromptId, u32> = (0u32..)
            .zip(&self.prompts)
            .filter(|(_, prompt)| counts(prompt))
            .map(|(place, prompt)| (prompt.id, place))
            .collect();
        let series_places: HashMap<i64, u32> = (0u32..)
            .zip(&self.series)
            .map(|(place, series)| (series.id, place))
            .collect();
        for stored in cells {
            let sums = stored_cells::bytes(stored).sums_by_series(days);
            for (id, cell) in sums.map_err(stored_cells::damaged)? {
                *self.mentions.entry((stored.prompt, id)).or_default() += cell.tally.mentioned;
                if let (Some(prompt), Some(series)) = (places.get(&stored.prompt), series_places.get(&id)) {
                    self.rows.push(SeriesCell {
                        prompt: *prompt,
                        series: *series,
                        cell,
                    });
                }
            }
        }
        Ok(())
    }

    fn engines(&self, places: &BTreeSet<u32>) -> Vec<Engine> {
        let of_place = |place: &u32| self.series.get(*place as usize).map(|series| series.engine);
        let engines: BTreeSet<Engine> = places.iter().filter_map(of_place).collect();
        engines.into_iter().collect()
    }

    fn competitors(&self, brands: &[Counted<String>]) -> Vec<CompetitorMentions> {
        let mentions = brands.iter().filter_map(|brand| {
            Some(CompetitorMentions {
                competitor_id: self.brands.competitor(&brand.key)?,
                name: self.brands.name(&brand.key),
                answers: brand.answers,
            })
        });
        mentions.take(MAX_COMPETITORS).collect()
    }

    fn prompt(&self, gap: &PromptOpportunity) -> Option<Opportunity> {
        let prompt = self.prompts.get(gap.prompt as usize)?;
        let text = cut(&prompt.text, 120);
        let shown = numbers(&gap.rate);
        let competitors = self.competitors(&gap.brands);
        let named: Vec<String> = competitors
            .iter()
            .map(|competitor| format!("{} ({})", competitor.name, competitor.answers))
            .collect();
        let (kind, title, why, purpose) = match gap.gap {
            GapLabel::CompetitorOnly => (
                OpportunityKind::CompetitorOnly,
                format!("Only competitors are named: {text}"),
                format!(
                    "{shown} name competitors, none names the brand: {}",
                    named.join(", ")
                ),
                "Write a page that answers this question and says where the brand fits.",
            ),
            GapLabel::CitedNotMentioned => (
                OpportunityKind::CitedNotMentioned,
                format!("Own pages are cited without the brand: {text}"),
                format!("{shown} whose sources can be seen cite an own page, none names the brand"),
                "Write a page that answers this question with the name of the brand in the answer itself; the cited pages lack it.",
            ),
            GapLabel::MentionedNotCited => (
                OpportunityKind::MentionedNotCited,
                format!("The brand is named, its pages are not cited: {text}"),
                format!("{shown} name the brand, none cites a page of it"),
                "Write a page with facts on this question that an engine can cite.",
            ),
            GapLabel::Absent | GapLabel::Strong => return None,
        };
        Some(Opportunity {
            title,
            why,
            prompt_ids: vec![prompt.id],
            engines: self.engines(&gap.series),
            competitors,
            urls: gap.owned_urls.clone(),
            next_steps: next_steps::of_prompt(self.project.id, prompt, purpose),
            ..entry(kind, &prompt.id.to_string(), &gap.rate)
        })
    }

    fn page(&self, page: &PageOpportunity) -> Option<Opportunity> {
        let prompt = |counted: &Counted<u32>| self.prompts.get(counted.key as usize);
        let first = prompt(page.prompts.first()?)?;
        let purpose = "Write a page that deserves the same citation, and ask the publisher of the cited page to name the brand.";
        let count = page.prompts.len();
        let prompts = if count == 1 {
            "1 prompt"
        } else {
            &format!("{count} prompts")
        };
        Some(Opportunity {
            title: format!(
                "A page that engines cite does not lead to the brand: {}",
                cut(&page.url, 120)
            ),
            why: format!(
                "{} to {prompts} cite it, name competitors and do not name the brand",
                numbers(&page.rate)
            ),
            prompt_ids: page
                .prompts
                .iter()
                .filter_map(prompt)
                .take(MAX_PROMPTS)
                .map(|prompt| prompt.id)
                .collect(),
            engines: self.engines(&page.series),
            urls: vec![page.url.clone()],
            next_steps: next_steps::of_prompt(self.project.id, first, purpose),
            ..entry(OpportunityKind::CitedThirdParty, &page.url, &page.rate)
        })
    }

    /// Returns one entry per fact. Answers come newest first.
    fn wrong_facts(&self, found: &[StoredAnswer]) -> Vec<Opportunity> {
        let mut facts: BTreeMap<String, Vec<(&StoredAnswer, &WrongFact)>> = BTreeMap::new();
        for answer in found {
            for fact in &answer.analysis.wrong_facts {
                let product = fact.product_id.map_or_else(String::new, |id| id.to_string());
                let subject = format!("{} {product} {}", fact.kind, fact.expected);
                facts.entry(subject).or_default().push((answer, fact));
            }
        }
        let entries = facts.iter();
        entries
            .filter_map(|(subject, sentences)| self.wrong_fact(subject, sentences))
            .collect()
    }

    fn wrong_fact(&self, subject: &str, sentences: &[(&StoredAnswer, &WrongFact)]) -> Option<Opportunity> {
        let (newest, fact) = sentences.first()?;
        let mut hits: HashMap<(PromptId, i64), BTreeSet<_>> = HashMap::new();
        let mut by_prompt: BTreeMap<PromptId, u64> = BTreeMap::new();
        for (answer, _) in sentences {
            let is_new = hits
                .entry((answer.prompt, answer.series))
                .or_default()
                .insert(answer.id);
            *by_prompt.entry(answer.prompt).or_default() += u64::from(is_new);
        }
        let clusters: Vec<Cluster> = self
            .mentions
            .iter()
            .map(|(key, answers)| Cluster {
                hits: hits.get(key).map_or(0, |ids| ids.len() as u64).min(*answers),
                answers: *answers,
            })
            .collect();
        let shown = Rate::from_clusters(&clusters);
        let mut prompts: Vec<(PromptId, u64)> = by_prompt.into_iter().collect();
        prompts.sort_by_key(|(id, answers)| (std::cmp::Reverse(*answers), *id));
        let engines: BTreeSet<Engine> = sentences.iter().map(|(answer, _)| answer.engine).collect();
        Some(Opportunity {
            title: format!(
                "Answers say {} of {}; the brand data say {}",
                cut(&fact.claimed, 80),
                cut(&fact.subject, 80),
                cut(&fact.expected, 80)
            ),
            why: format!(
                "{} that name the brand contradict the brand data",
                numbers(&shown)
            ),
            prompt_ids: prompts.into_iter().take(MAX_PROMPTS).map(|(id, _)| id).collect(),
            engines: engines.into_iter().collect(),
            urls: Vec::new(),
            sentences: sentences
                .iter()
                .take(MAX_SENTENCES)
                .map(|(answer, fact)| wrong_sentence(answer, fact))
                .collect(),
            next_steps: next_steps::of_fact(self.project.id, fact, &self.project.language, newest.prompt),
            ..entry(OpportunityKind::WrongFact, subject, &shown)
        })
    }

    fn blocked(&self, issue: &IssueRow) -> Opportunity {
        let what = match issue.check_id.as_str() {
            "ai-search-bot-blocked" => "Search agents of assistants may not read own pages",
            "ai-user-bot-blocked" => "Assistants may not open own pages when a person asks for them",
            "ai-content-signal-blocks" => "The website asks assistants not to use its content",
            _ => "Own pages forbid snippets, which keeps them out of answers",
        };
        let pages = if issue.active == 1 { "page" } else { "pages" };
        Opportunity {
            title: what.to_owned(),
            why: format!(
                "{} {pages} in the newest audit, by the check {}; this is no figure from answers",
                issue.active, issue.check_id
            ),
            score: rules::round(issue.impact.clamp(0.0, 100.0)),
            rate: None,
            thin: false,
            next_steps: next_steps::of_issue(self.project.id, issue.id),
            ..entry(
                OpportunityKind::BlockedAgents,
                &issue.id.to_string(),
                &Rate::without_interval(0.0, 0.0),
            )
        }
    }
}

fn wrong_sentence(answer: &StoredAnswer, fact: &WrongFact) -> WrongSentence {
    WrongSentence {
        answer_id: answer.id,
        prompt_id: answer.prompt,
        engine: answer.engine,
        fact: fact.kind,
        quote: fact.quote.clone(),
        span: fact.span,
        claimed: fact.claimed.clone(),
        expected: fact.expected.clone(),
    }
}
