//! Checks of robots.txt.

use super::{Case, World};

fn robots(id: &'static str, bad: &str, good: &str) -> Case {
    Case {
        id,
        bad: World::new().robots(bad),
        good: World::new().robots(good),
    }
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        robots(
            "robots-invalid",
            "Disallow: /x\n",
            "User-agent: *\nDisallow: /x # why\n\nSitemap: https://www.example.com/s.xml\nCrawl-delay: 1\n",
        ),
        robots(
            "robots-invalid",
            "User-agent: *\nDisalow: /x\n",
            "# only a remark\n",
        ),
        robots("robots-invalid", "Sitemap: /s.xml\n", ""),
        robots(
            "robots-invalid",
            "<!DOCTYPE html><p>not found",
            "User-agent: *\nAllow: /\n",
        ),
        robots(
            "robots-blocks-all",
            "User-agent: *\nDisallow: /\n",
            "User-agent: BadBot\nDisallow: /\n",
        ),
        robots(
            "robots-blocks-all",
            "User-agent: Googlebot\nDisallow: /\n",
            "User-agent: *\nDisallow: /x\n",
        ),
        robots(
            "ai-training-bot-blocked",
            "User-agent: GPTBot\nDisallow: /\n",
            "User-agent: GPTBot\nDisallow: /x\n",
        ),
        robots(
            "ai-content-signal-blocks",
            "Content-Signal: search=yes, ai-input=no\n",
            "Content-Signal: search=yes, ai-train=no\n",
        ),
        robots(
            "ai-content-signal-blocks",
            "User-agent: *\nContent-Signal: ai-input=yes, search=no\nAllow: /\n",
            "User-agent: *\nContent-Signal: ai-input=yes, search=yes\nAllow: /\n",
        ),
    ]
}
