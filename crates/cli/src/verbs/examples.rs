//! Examples below the help of a resource: a line each, ready to be changed.

/// Returns the examples of a resource.
pub(super) fn find(resource: &str) -> Option<&'static str> {
    Some(match resource {
        "me" | "project" | "projects" => {
            "Examples:\n  searchwright me get --json\n  searchwright projects list --output csv"
        }
        "keywords" => {
            "Examples:\n  searchwright keywords create 'standing desk' --search-volume 2400\n  searchwright keywords import @semrush.csv\n  searchwright keywords list --all --fields keyword,searchVolume --output csv\n  searchwright keywords generate --count 20 --dry-run --wait"
        }
        "posts" => {
            "Examples:\n  searchwright posts list --fields id,title,status\n  searchwright posts generate ID --wait\n  searchwright posts publish ID --provider wordpress --yes --wait"
        }
        "integrations" => {
            "Examples:\n  searchwright integrations list\n  searchwright integrations connect wordpress\n  searchwright integrations fields wordpress --json"
        }
        "audits" => {
            "Examples:\n  searchwright audits start --wait --fail-on error\n  searchwright audits run https://example.com --format html --output report.html\n  searchwright audits export --format csv"
        }
        "issues" => {
            "Examples:\n  searchwright issues list --severity error\n  searchwright issues occurrences ID --all --jsonl"
        }
        "occurrences" => {
            "Examples:\n  searchwright occurrences done '[{\"issue_id\":\"ID\",\"page_id\":\"ID\"}]' --note 'link corrected'"
        }
        "rechecks" => "Examples:\n  searchwright rechecks start --wait\n  searchwright rechecks get ID",
        "pages" => "Examples:\n  searchwright pages list --all --fields url,statusCode,title --output csv",
        "jobs" => {
            "Examples:\n  searchwright jobs list --status running\n  searchwright jobs get ID\n  searchwright jobs cancel ID"
        }
        "webhooks" => {
            "Examples:\n  searchwright webhooks create https://example.com/hook post.published\n  searchwright webhooks deliveries ID"
        }
        "events" => {
            "Examples:\n  searchwright events list --jsonl\n  searchwright watch --types post.published"
        }
        "usage" => "Examples:\n  searchwright usage get",
        "activity" => "Examples:\n  searchwright activity list --limit 10",
        "autopilot" => {
            "Examples:\n  searchwright autopilot preview --count 5\n  searchwright autopilot update --enabled true --publish-interval-days 7 --mode review"
        }
        "approvals" => "Examples:\n  searchwright approvals list --status pending",
        "schedules" => {
            "Examples:\n  searchwright schedules update audits --enabled true --weekdays mon,thu --time 06:30 --timezone Europe/Berlin"
        }
        "visibility" => {
            "Examples:\n  searchwright visibility overview\n  searchwright visibility opportunities --all --jsonl"
        }
        "prompts" => {
            "Examples:\n  searchwright prompts list --fields id,text,window\n  searchwright prompts track ID --dry-run\n  searchwright prompts track ID --max-cost 0.5 --wait"
        }
        "names" => "Examples:\n  searchwright names list",
        "runs" => "Examples:\n  searchwright runs list\n  searchwright runs get ID",
        "reports" => "Examples:\n  searchwright reports import @bing.csv\n  searchwright reports get --json",
        "brand" => "Examples:\n  searchwright brand update --aliases Fern --aliases 'Fern & Co'",
        "products" => {
            "Examples:\n  searchwright products create '[{\"name\":\"Fern desk\"}]'\n  searchwright products list"
        }
        "competitors" => {
            "Examples:\n  searchwright competitors create '[{\"name\":\"Moss\",\"domain\":\"moss.example\"}]'"
        }
        "faqs" => "Examples:\n  searchwright faqs list --fields question,language",
        "ctas" => "Examples:\n  searchwright ctas list",
        _ => return None,
    })
}
