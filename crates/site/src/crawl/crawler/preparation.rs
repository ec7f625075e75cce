//! Steps before the first page.

use super::{Crawler, host_of, seeds::Given};
use crate::{
    crawl::{
        Termination,
        discovery::{Survey, policy},
        robots_gate::RobotsGate,
    },
    origin::Origin,
    robots::Policy,
    urls::provenance,
};

impl Crawler {
    /// Gathers the facts that are needed before the first page, or takes them from the store if they were saved before.
    pub(super) async fn begin(&mut self, known: Option<Origin>) {
        // taken out of the settings, since a very large site has very many
        let seeds = std::mem::take(&mut self.config.seeds);
        if let Some(known) = known {
            self.queue.gates.insert(
                known.root.clone(),
                RobotsGate::Known(policy(&known.robots, &self.config)),
            );
            self.discovery.origin = known;
        } else {
            let before = self.discovery.table.len();
            let mut survey = Survey::new(self.fetcher.client.clone(), &self.config, self.now.clone());
            let mut given = Given::new(&mut self.discovery.table, &self.discovery.scope, &self.config);
            let mut listed = |url: &str, day: u16| given.listed(url, day);
            let surveyed = tokio::select! {
                surveyed = survey.survey(&self.config, &self.discovery.scope, &mut listed) => surveyed,
                () = self.cancel.cancelled() => return self.stop(Termination::Cancelled),
                () = tokio::time::sleep_until(self.deadline) => return self.stop(Termination::MaxDuration),
            };
            // Seeds come after the URLs of sitemaps, so that ids have the same order in every audit: pages that link to
            // each other get ids near each other, and links are stored as differences.
            given.make_room(seeds.len());
            for (url, bits) in &seeds {
                given.add(url, bits & provenance::GIVEN, 0);
            }
            drop(seeds);
            self.discovery.origin = surveyed.origin;
            self.discovery.surveyed = true;
            if let Some(id) = self.discovery.table.add_url(&surveyed.home) {
                self.discovery.origin.home = id;
            }
            self.note_urls(before);
            self.recorder.pending.origin(self.discovery.origin.clone());
            self.queue.gates.insert(
                self.discovery.origin.root.clone(),
                RobotsGate::Known(surveyed.policy),
            );
        }
        match self.queue.gates.get(&self.discovery.origin.root) {
            Some(RobotsGate::Known(Policy::Unreachable)) => self.stop(Termination::RobotsUnreachable),
            Some(RobotsGate::Known(Policy::Follow(rules))) => {
                let (delay, host) = (rules.delay, host_of(&self.discovery.origin.root));
                let host = self.queue.hosts.index_of(&host);
                self.queue.root_host = Some(host);
                self.queue.hosts[host].slow_to(delay.unwrap_or(0.0));
            }
            _ => {}
        }
    }
}
