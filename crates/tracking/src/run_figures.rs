//! Figures over the answers of a run.

use searchwright_contract::{answers::AnswerStatus, runs::RunOutcome};
use searchwright_store::answer_overrides::CountedAnswer;
use searchwright_visibility::statistics::{self, Cluster};

use crate::overview::contract_rate;

/// Mentions in the answers of an engine to each prompt of a run.
#[derive(Clone, Debug, Default)]
pub struct RunMentions(Vec<Cluster>);

impl RunMentions {
    /// Adds the answers to a prompt.
    pub fn add_prompt(&mut self, answers: &[CountedAnswer]) {
        let mut counts = Cluster::default();
        for answer in answers.iter().filter(|answer| answer.status == AnswerStatus::Ok) {
            counts.answers += 1;
            counts.hits += u64::from(answer.mentions_own());
        }
        if counts.answers > 0 {
            self.0.push(counts);
        }
    }

    /// Returns whether no answer could be evaluated.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the half-width of the interval is at most so many points.
    pub fn reaches(&self, points: f64) -> bool {
        let interval = statistics::Rate::from_clusters(&self.0).interval();
        interval.is_some_and(|interval| (interval.high - interval.low) * 50.0 <= points)
    }

    /// Writes the figures into an outcome.
    pub fn describe(&self, outcome: &mut RunOutcome) {
        let rate = statistics::Rate::from_clusters(&self.0);
        outcome.mention_rate = rate.value.map(|_| contract_rate(&rate));
        let repeated = self.0.iter().filter(|cell| cell.answers > 1);
        let (agreeing, answers) = repeated.fold((0, 0), |(agreeing, answers), cell| {
            let more_frequent = cell.hits.max(cell.answers - cell.hits);
            (agreeing + more_frequent, answers + cell.answers)
        });
        outcome.stability = (answers > 0).then(|| agreeing as f64 / answers as f64);
    }
}
