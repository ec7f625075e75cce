//! Frame of the pages of a project: its navigation, and the members of the template that they extend.

use super::page::Layout;

/// Section of the navigation in which a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    /// Overview of the project.
    Overview,
    /// Audits.
    Audits,
    /// Issues.
    Issues,
    /// Pages of the website.
    Pages,
    /// Keywords.
    Keywords,
    /// Posts.
    Posts,
    /// Calendar.
    Calendar,
    /// Approvals.
    Approvals,
    /// Visibility in AI assistants.
    Visibility,
    /// Brand.
    Brand,
    /// Integrations.
    Integrations,
    /// Webhooks.
    Webhooks,
    /// Activity.
    Activity,
    /// Settings.
    Settings,
}

/// Entry of the navigation.
#[derive(Debug)]
pub(crate) struct NavEntry {
    /// Address below the project.
    pub path: &'static str,
    /// Text.
    pub label: &'static str,
    /// Its section.
    pub section: Section,
    /// Key that goes there after `g`.
    pub key: char,
}

/// Entries of the navigation, in groups with a heading.
const NAVIGATION: &[(&str, &[NavEntry])] = {
    const fn entry(path: &'static str, label: &'static str, section: Section, key: char) -> NavEntry {
        NavEntry {
            path,
            label,
            section,
            key,
        }
    }
    &[
        ("", &[entry("", "Overview", Section::Overview, 'o')]),
        (
            "Site",
            &[
                entry("/audits", "Audits", Section::Audits, 'a'),
                entry("/issues", "Issues", Section::Issues, 'i'),
                entry("/pages", "Pages", Section::Pages, 'u'),
            ],
        ),
        (
            "Content",
            &[
                entry("/keywords", "Keywords", Section::Keywords, 'k'),
                entry("/posts", "Posts", Section::Posts, 'p'),
                entry("/calendar", "Calendar", Section::Calendar, 'c'),
                entry("/approvals", "Approvals", Section::Approvals, 'r'),
            ],
        ),
        (
            "Assistants",
            &[
                entry("/visibility", "Visibility", Section::Visibility, 'v'),
                entry("/brand", "Brand", Section::Brand, 'b'),
            ],
        ),
        (
            "Project",
            &[
                entry("/integrations", "Integrations", Section::Integrations, 'n'),
                entry("/webhooks", "Webhooks", Section::Webhooks, 'w'),
                entry("/activity", "Activity", Section::Activity, 'l'),
                entry("/settings", "Settings", Section::Settings, 's'),
            ],
        ),
    ]
};

/// Members of the template that all pages of a project extend.
pub(crate) struct ProjectFrame {
    pub layout: Layout,
    pub script: &'static str,
    /// Id of the project.
    pub project: String,
    /// Name of the project.
    pub name: String,
    /// Website of the project.
    pub domain: String,
    /// Time zone of the project.
    pub timezone: String,
    /// Name of the person.
    pub user: String,
    /// Token of the forms.
    pub csrf: String,
    /// Token that makes a form of this page have its effect once.
    pub once: String,
    pub section: Section,
    /// Message about what was just done.
    pub message: Option<String>,
    /// Whether work is running that changes the page.
    pub is_running: bool,
    /// Whether a browser without scripts loads the page again by itself meanwhile: not where text may be typed.
    pub reloads: bool,
}

impl ProjectFrame {
    /// Entries of the navigation.
    pub fn navigation(&self) -> &'static [(&'static str, &'static [NavEntry])] {
        NAVIGATION
    }

    /// Follows work that is running. Without scripts, the page loads again by itself.
    #[must_use]
    pub fn live(mut self, is_running: bool) -> Self {
        (self.is_running, self.reloads) = (is_running, is_running);
        self
    }

    /// Follows work that is running, on a page where text is typed. Without scripts, a link loads it again.
    #[must_use]
    pub fn live_with_text(mut self, is_running: bool) -> Self {
        self.is_running = is_running;
        self
    }
}
