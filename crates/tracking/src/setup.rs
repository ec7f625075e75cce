//! Steps until the figures mean something.

use searchwright_contract::{
    prompts::{PromptClass, PromptStatus},
    visibility::{SetupProgress, SetupStep},
};
use searchwright_failure::Result;
use searchwright_providers::Provider;
use searchwright_store::{Tx, access::ProjectScope, answers, prompts::PromptOutline, providers};
use searchwright_visibility::overview::Overview;

use crate::TrackedBrands;

/// Half-width of an interval at which there is enough data.
const ENOUGH: f64 = 0.1;
fn step(key: &str, required: bool, done: bool, hint: &str) -> SetupStep {
    SetupStep {
        key: key.to_owned(),
        required,
        done,
        hint: hint.to_owned(),
    }
}

/// Facts of the database on which steps depend.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SetupFacts {
    has_answers: bool,
    has_engine: bool,
}

impl SetupFacts {
    /// Reads them.
    pub(crate) async fn load(tx: &mut Tx, scope: ProjectScope) -> Result<Self> {
        let accounts = providers::list(tx, scope).await?;
        let is_engine = |word: &str| {
            Provider::ANSWER_ENGINES
                .iter()
                .any(|engine| engine.word() == word)
        };
        Ok(Self {
            has_answers: answers::exist(tx, scope).await?,
            has_engine: accounts.iter().any(|account| is_engine(&account.name)),
        })
    }

    /// Returns the steps, and which are done.
    pub(crate) fn progress(
        self,
        brands: &TrackedBrands,
        prompts: &[PromptOutline],
        overview: &Overview,
    ) -> SetupProgress {
        let Self {
            has_answers,
            has_engine,
        } = self;
        let active = prompts
            .iter()
            .filter(|prompt| prompt.status == PromptStatus::Active);
        let (count, non_branded) = active.fold((0u32, 0u32), |(all, non_branded), prompt| {
            let is_non_branded = prompt.class == PromptClass::NonBranded;
            (all + 1, non_branded + u32::from(is_non_branded))
        });
        let interval = overview.kpis.mention_rate.rate.interval();
        let has_enough = interval.is_some_and(|interval| (interval.high - interval.low) / 2.0 <= ENOUGH);
        let competitors = brands.all.iter().filter(|brand| !brand.is_own).count();
        let prompt_hint = match (count, non_branded) {
            (0, _) => "add prompts as people ask them; 20 or more give a picture",
            (count, _) if count < 20 => "20 or more prompts give a picture",
            (count, non_branded) if non_branded * 10 < count * 7 => {
                "at least 70 % of the prompts should name no brand: names in the question find themselves in the answer"
            }
            _ => "add what people start to ask",
        };
        let competitor_hint = match competitors {
            0 => "add competitors to the brand data: without them there is no share of voice",
            1 | 2 => "3 or more competitors make the share of voice meaningful",
            _ => "keep the list up to date",
        };
        let steps = vec![
            step(
                "brand_profile",
                true,
                brands.has_profile,
                "set name, other spellings and domains of the brand: PATCH brand",
            ),
            step("competitors", true, brands.has_competitors(), competitor_hint),
            step("prompts", true, count > 0, prompt_hint),
            step(
                "engine",
                true,
                has_engine || has_answers,
                "set an account of a vendor, or copy answers by hand",
            ),
            step(
                "first_run",
                true,
                has_answers,
                "track a prompt, or copy answers by hand: POST visibility/prompts/{promptId}/answers",
            ),
            step(
                "enough_data",
                false,
                has_enough,
                "the interval of the mention rate is wider than ±10 points: about 97 independent answers are needed; more prompts help more than repeats",
            ),
        ];
        let required = steps.iter().filter(|step| step.required);
        let done = required.clone().filter(|step| step.done).count();
        SetupProgress {
            percent: u8::try_from(done * 100 / required.count().max(1)).unwrap_or(100),
            steps,
        }
    }
}
