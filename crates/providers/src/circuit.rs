//! Circuit breaker: an account whose provider failed several times in a row is left alone for a while, so that what
//! is down holds no workers. Then one call tries; the others wait for what comes of it.

use std::{
    collections::{HashMap, VecDeque},
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use futures_util::StreamExt as _;
use searchwright_contract::{Clock, Instant, keywords::KeywordSource};
use uuid::Uuid;

use super::{
    Provider,
    answers::{AnswerEngine, EngineAnswer, EngineKey, Estimate, Question},
    error::ProviderError,
    keyword_data::{Found, KeywordData, Market},
    language::{Chunk, Generation, LanguageModel, Prompt},
};

/// Failures within `WINDOW_MILLIS` that open the circuit for `REST_MILLIS`.
const MAX_FAILURES: usize = 5;
const WINDOW_MILLIS: i64 = 60_000;
const REST_MILLIS: i64 = 30_000;
/// Milliseconds that other calls wait while one call tries.
const TRIAL_MILLIS: i64 = 5_000;

#[derive(Debug, Default)]
struct State {
    failures: VecDeque<i64>,
    rests_until: Option<i64>,
    is_tried: bool,
}

impl State {
    /// Returns whether the call is the trial call after a rest; as an error, the milliseconds to wait if no call may be
    /// made.
    fn admit(&mut self, now: i64) -> Result<bool, i64> {
        match self.rests_until {
            None => Ok(false),
            Some(until) if now < until => Err(until - now),
            Some(_) if self.is_tried => Err(TRIAL_MILLIS),
            Some(_) => {
                self.is_tried = true;
                Ok(true)
            }
        }
    }

    fn failed(&mut self, is_trial: bool, now: i64) {
        self.failures.push_back(now);
        self.failures.retain(|at| now - at < WINDOW_MILLIS);
        if is_trial || self.failures.len() >= MAX_FAILURES {
            *self = Self {
                rests_until: Some(now + REST_MILLIS),
                ..Self::default()
            };
        }
    }
}

/// The circuit of one account.
#[derive(Clone)]
pub(super) struct Circuit {
    clock: Clock,
    state: Arc<Mutex<State>>,
}

/// A call that may be made.
struct Pass {
    circuit: Circuit,
    is_trial: bool,
    is_told: bool,
}

impl Circuit {
    fn with<T>(&self, act: impl FnOnce(&mut State, i64) -> T) -> T {
        let now: Instant = self.clock.now();
        act(
            &mut self.state.lock().unwrap_or_else(PoisonError::into_inner),
            now.millis(),
        )
    }

    /// Makes a call if calls may be made, and sees what comes of it.
    pub(super) async fn watch<T>(
        &self,
        call: impl Future<Output = Result<T, ProviderError>>,
    ) -> Result<T, ProviderError> {
        let mut pass = self.enter()?;
        let answer = call.await;
        pass.record(answer.as_ref().err());
        answer
    }

    fn enter(&self) -> Result<Pass, ProviderError> {
        let wait = |millis: i64| ProviderError::Resting(Duration::from_millis(millis.unsigned_abs()));
        let is_trial = self.with(State::admit).map_err(wait)?;
        Ok(Pass {
            circuit: self.clone(),
            is_trial,
            is_told: false,
        })
    }
}

impl Pass {
    /// Records the outcome of the call. A provider that refuses, or asks for patience, counts as reachable.
    fn record(&mut self, error: Option<&ProviderError>) {
        self.is_told = true;
        let is_trial = self.is_trial;
        self.circuit.with(|state, now| match error {
            Some(ProviderError::Unavailable | ProviderError::Uncertain(_)) => state.failed(is_trial, now),
            _ => *state = State::default(),
        });
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if self.is_trial && !self.is_told {
            self.circuit.with(|state, _| state.is_tried = false);
        }
    }
}

/// The circuits of all accounts.
#[derive(Clone)]
pub(super) struct Circuits {
    clock: Clock,
    all: Arc<Mutex<HashMap<(Uuid, &'static str), Circuit>>>,
}

impl Circuits {
    pub(super) fn new(clock: Clock) -> Self {
        Self {
            clock,
            all: Arc::default(),
        }
    }

    /// The circuit of a project's account with a provider.
    pub(super) fn get(&self, project: Uuid, provider: Provider) -> Circuit {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Circuit {
            clock: self.clock.clone(),
            state: Arc::default(),
        };
        all.entry((project, provider.word())).or_insert_with(new).clone()
    }
}

/// A provider behind its circuit.
pub(super) struct Behind<T> {
    pub(super) circuit: Circuit,
    pub(super) inner: T,
}

impl<T: fmt::Debug> fmt::Debug for Behind<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl LanguageModel for Behind<Box<dyn LanguageModel>> {
    fn provider(&self) -> &'static str {
        self.inner.provider()
    }

    fn model(&self) -> &str {
        self.inner.model()
    }

    fn most(&self, prompt: &Prompt) -> Option<u64> {
        self.inner.most(prompt)
    }

    fn generate(&self, prompt: &Prompt) -> Generation {
        let mut pass = match self.circuit.enter() {
            Ok(pass) => pass,
            Err(error) => return Box::pin(futures_util::stream::iter([Err(error)])),
        };
        let watched = self.inner.generate(prompt).inspect(move |chunk| match chunk {
            Ok(Chunk::Text(_)) => {}
            Ok(Chunk::End { .. }) => pass.record(None),
            Err(error) => pass.record(Some(error)),
        });
        Box::pin(watched)
    }
}

#[async_trait]
impl KeywordData for Behind<Box<dyn KeywordData>> {
    fn provider(&self) -> &'static str {
        self.inner.provider()
    }

    fn source(&self) -> KeywordSource {
        self.inner.source()
    }

    fn most_seeds(&self) -> usize {
        self.inner.most_seeds()
    }

    async fn ideas(
        &self,
        seeds: &[String],
        market: &Market,
        after: Option<&str>,
    ) -> Result<Found, ProviderError> {
        let call = self.inner.ideas(seeds, market, after);
        self.circuit.watch(call).await
    }

    fn most_keywords(&self) -> usize {
        self.inner.most_keywords()
    }

    async fn metrics(&self, keywords: &[String], market: &Market) -> Result<Found, ProviderError> {
        let call = self.inner.metrics(keywords, market);
        self.circuit.watch(call).await
    }
}

#[async_trait]
impl AnswerEngine for Behind<Box<dyn AnswerEngine>> {
    fn key(&self) -> &EngineKey {
        self.inner.key()
    }

    fn provider(&self) -> &'static str {
        self.inner.provider()
    }

    fn estimate(&self, prompt: &str, samples: u32) -> Estimate {
        self.inner.estimate(prompt, samples)
    }

    fn location_control(&self) -> bool {
        self.inner.location_control()
    }

    async fn ask(&self, question: &Question) -> Result<EngineAnswer, ProviderError> {
        self.circuit.watch(self.inner.ask(question)).await
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop, prop_assert_eq, proptest};

    use super::*;

    fn circuit() -> (Clock, Circuit) {
        let clock = Clock::fixed(Instant::from_millis(1_000_000));
        let circuits = Circuits::new(clock.clone());
        (clock, circuits.get(Uuid::nil(), Provider::OpenAi))
    }

    fn call(circuit: &Circuit, error: Option<ProviderError>) -> Result<(), ProviderError> {
        circuit.enter()?.record(error.as_ref());
        Ok(())
    }

    fn rests(seconds: u64) -> Result<(), ProviderError> {
        Err(ProviderError::Resting(Duration::from_secs(seconds)))
    }

    #[test]
    fn five_failures_open_it_and_one_success_closes_it() {
        let (clock, circuit) = circuit();
        let fails = || Some(ProviderError::Unavailable);
        for _ in 0..5 {
            assert_eq!(call(&circuit, fails()), Ok(()));
        }
        assert_eq!(call(&circuit, None), rests(30));
        clock.advance(29_000);
        assert_eq!(call(&circuit, None), rests(1));
        clock.advance(1_000);
        // One tries, and nobody beside it; a trial that is given up is none.
        let trial = circuit.enter().unwrap();
        assert_eq!(call(&circuit, None), rests(5));
        drop(trial);
        assert_eq!(call(&circuit, fails()), Ok(()));
        assert_eq!(call(&circuit, None), rests(30));
        clock.advance(30_000);
        assert_eq!(call(&circuit, None), Ok(()));
        for _ in 0..4 {
            assert_eq!(call(&circuit, fails()), Ok(()));
        }
        assert_eq!(call(&circuit, None), Ok(()));
        assert_eq!(call(&circuit, fails()), Ok(()));
    }

    #[test]
    fn who_answers_is_there() {
        let (_, circuit) = circuit();
        let uncertain = || ProviderError::Uncertain(Box::default());
        for no in [
            ProviderError::refused(super::super::Why::Credential),
            ProviderError::RateLimited(None),
        ] {
            for _ in 0..4 {
                call(&circuit, Some(uncertain())).unwrap();
            }
            assert_eq!(call(&circuit, Some(no)), Ok(()));
        }
    }

    #[test]
    fn accounts_do_not_share_one() {
        let circuits = Circuits::new(Clock::system());
        let [one, other] = [1, 2].map(Uuid::from_u128);
        for _ in 0..5 {
            call(
                &circuits.get(one, Provider::OpenAi),
                Some(ProviderError::Unavailable),
            )
            .unwrap();
        }
        assert!(circuits.get(one, Provider::OpenAi).enter().is_err());
        for (project, provider) in [(one, Provider::Gemini), (other, Provider::OpenAi)] {
            assert!(circuits.get(project, provider).enter().is_ok());
        }
    }

    proptest! {
        #[test]
        fn it_is_open_after_five_failures_in_a_minute_and_not_before(steps in prop::collection::vec((0..40_000i64, prop::bool::weighted(0.8)), 1..80)) {
            let (clock, circuit) = circuit();
            let (mut failures, mut rests_until): (Vec<i64>, Option<i64>) = (Vec::new(), None);
            for (passes, fails) in steps {
                clock.advance(passes);
                let now = clock.now().millis();
                let came = call(&circuit, fails.then_some(ProviderError::Unavailable));
                prop_assert_eq!(came.is_ok(), rests_until.is_none_or(|until| now >= until));
                if came.is_err() {
                    continue;
                }
                if !fails {
                    (failures, rests_until) = (Vec::new(), None);
                    continue;
                }
                failures.push(now);
                let recent = failures.iter().filter(|at| now - **at < WINDOW_MILLIS).count();
                if rests_until.is_some() || recent >= MAX_FAILURES {
                    (failures, rests_until) = (Vec::new(), Some(now + REST_MILLIS));
                }
            }
        }
    }
}
