//! From what the operator sets to what a job is handed.

use std::{collections::BTreeMap, sync::Arc};

use searchwright_contract::{Clock, Instant};
use searchwright_outbound::{Outbound, Settings};
use searchwright_providers::{Provider, ProviderError};
use searchwright_store::{self as store, Db, admin, seal::Keyring};
use uuid::Uuid;

use super::Accounts;
use crate::Engine;

struct World {
    engine: Arc<Engine>,
    keyring: Arc<Keyring>,
    project: Uuid,
    _folder: tempfile::TempDir,
}

impl World {
    async fn new() -> Self {
        let folder = tempfile::TempDir::new().unwrap();
        let db = Db::open(&store::Settings::Sqlite(folder.path().join("store.sqlite")))
            .await
            .unwrap();
        db.migrate().await.unwrap();
        let clock = Clock::fixed(Instant::from_millis(1_795_255_200_123));
        let keyring = Arc::new(Keyring::new([(1, [1; 32])]).unwrap());
        let engine = Engine::new(db, clock, keyring.clone(), Vec::new(), 0)
            .await
            .unwrap();
        let project = engine.create_project("Fern", "example.com").await.unwrap().id;
        Self {
            engine,
            keyring,
            project,
            _folder: folder,
        }
    }

    async fn set(&self, provider: Provider, settings: &[(&str, &str)], secret: Option<&str>) {
        let settings: BTreeMap<_, _> = settings
            .iter()
            .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
            .collect();
        let secret = secret.map(str::to_owned);
        self.engine
            .set_provider(
                self.keyring.clone(),
                self.project,
                provider.word(),
                settings,
                secret,
            )
            .await
            .unwrap();
    }

    async fn made(&self) -> (Result<String, ProviderError>, Vec<&'static str>) {
        let outbound = Outbound::new(&Settings::new("SearchwrightBot/1.0 (+http://localhost/bot)")).unwrap();
        let accounts = Accounts::new(&outbound, self.engine.clock.clone(), self.keyring.clone());
        let mut tx = self.engine.db.read().await.unwrap();
        let scope = admin::get_scope(&mut tx, self.project).await.unwrap();
        let model = accounts.language_model(&mut tx, scope).await.unwrap();
        let sources = accounts.keyword_data(&mut tx, scope).await.unwrap().unwrap();
        (
            model.map(|m| format!("{} {}", m.provider(), m.model())),
            sources.iter().map(|s| s.provider()).collect(),
        )
    }
}

#[tokio::test]
async fn a_job_is_handed_what_was_set_in_a_fixed_order() {
    let world = World::new().await;
    assert_eq!(
        world.made().await,
        (Err(ProviderError::NotConfigured("language model")), Vec::new())
    );
    let google = r#"{"clientId":"a","clientSecret":"b","refreshToken":"c","developerToken":"d"}"#;
    world.set(Provider::Gemini, &[("model", "g")], Some("key")).await;
    world.set(Provider::Autocomplete, &[], None).await;
    world
        .set(
            Provider::SearchConsole,
            &[("siteUrl", "https://example.com/")],
            Some(google),
        )
        .await;
    assert_eq!(
        world.made().await,
        (Ok("gemini g".to_owned()), vec!["search-console", "autocomplete"])
    );
    world
        .set(Provider::Anthropic, &[("model", "a")], Some("key"))
        .await;
    world.set(Provider::OpenAi, &[("model", "o")], None).await;
    world.set(Provider::DataForSeo, &[], Some("me:password")).await;
    world
        .set(Provider::GoogleAds, &[("customerId", "1")], Some(google))
        .await;
    assert_eq!(
        world.made().await,
        (
            Ok("openai o".to_owned()),
            vec!["dataforseo", "google-ads", "search-console", "autocomplete"]
        )
    );
    assert!(
        world
            .engine
            .remove_provider(world.project, "openai")
            .await
            .unwrap()
    );
    assert_eq!(world.made().await.0, Ok("anthropic a".to_owned()));
}

#[tokio::test]
async fn an_account_without_its_secret_is_not_stored() {
    let world = World::new().await;
    let settings = BTreeMap::from([("model".to_owned(), "a".to_owned())]);
    let refused = world
        .engine
        .set_provider(world.keyring.clone(), world.project, "anthropic", settings, None)
        .await
        .unwrap_err();
    assert_eq!(refused.0.errors[0].pointer, "/secret");
    assert!(
        world
            .engine
            .list_providers(world.project)
            .await
            .unwrap()
            .is_empty()
    );
}
