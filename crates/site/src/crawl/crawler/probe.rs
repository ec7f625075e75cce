//! Fetches a made-up URL in the folder that all pages share, where error pages may differ from those of the root.

use url::Url;

use super::Crawler;
use crate::{
    crawl::{
        Termination,
        discovery::{Survey, at, within},
        politeness::Dice,
        robots_gate::RobotsGate,
        scope::origin,
    },
    graph::State,
    page::UrlId,
};

impl Crawler {
    /// Fetches a made-up URL in the folder that all pages share, unless only the root is shared.
    pub(super) async fn probe_folder(&mut self) {
        let folder = self.shared_folder();
        if self.discovery.origin.probes.len() != 1 || folder.len() < 2 {
            return;
        }
        let Ok(root) = Url::parse(&self.discovery.origin.root) else {
            return;
        };
        let mut dice = Dice(self.config.seed);
        let _first = dice.roll();
        let url = at(&root, &format!("{folder}{:016x}", dice.roll()));
        let Some(RobotsGate::Known(policy)) = self.queue.gates.get(&self.discovery.origin.root) else {
            return;
        };
        let may = within(&root, policy);
        if !may(&url) {
            return;
        }
        let mut survey = Survey::new(self.fetcher.client.clone(), &self.config, self.now.clone());
        let probe = tokio::select! {
            probe = survey.probe(url, self.config.body_limit, &may) => Some(probe),
            () = self.cancel.cancelled() => None,
        };
        drop(may);
        let Some(probe) = probe else {
            return self.stop(Termination::Cancelled);
        };
        if let Some(probe) = probe {
            self.discovery.origin.probes.push(probe);
            self.recorder.pending.origin(self.discovery.origin.clone());
        }
    }

    /// Returns the path, up to its last slash, that all pages except the start page share.
    fn shared_folder(&self) -> String {
        let mut shared: Option<&str> = None;
        for id in (0..self.discovery.table.len() as u32).map(UrlId) {
            if !self.discovery.builder.is_internal(id)
                || self.discovery.builder.state(id) != State::Html
                || id == self.discovery.origin.home
                || id.0 == 0
            {
                continue;
            }
            let key = self.discovery.table.key(id);
            let path = key.get(origin(key).len()..).unwrap_or_default();
            let path = path.split('?').next().unwrap_or_default();
            let same = match shared {
                None => path.len(),
                Some(known) => known
                    .bytes()
                    .zip(path.bytes())
                    .take_while(|(a, b)| a == b)
                    .count(),
            };
            shared = path
                .get(..same)
                .or(Some(""))
                .map(|p| &p[..p.rfind('/').map_or(0, |i| i + 1)]);
        }
        shared.unwrap_or_default().to_owned()
    }
}
