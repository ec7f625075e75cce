//! The vendors: what a person enters to connect each, what it can do, and how it is reached.

#[cfg(test)]
mod conformance;
mod contentful;
mod directus;
#[cfg(test)]
mod documents;
mod files;
mod ghost;
pub mod git;
mod notion;
mod shopify;
mod strapi;
#[cfg(test)]
mod tests;
mod webflow;
mod webhook;
pub(super) mod wix;
mod wordpress;

use searchwright_contract::integrations::{Capabilities, Provider};

use super::{
    Context,
    error::Trouble,
    publisher::{Connection, Publisher},
};

/// A value that a person enters to connect a provider.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// Name in the form and in the stored connection.
    pub name: &'static str,
    /// Label for people.
    pub label: &'static str,
    /// Hint for people: where to find the value, and what it looks like.
    pub hint: &'static str,
    /// Whether it is a secret: sealed, and never shown again.
    pub secret: bool,
    /// Whether nothing works without it.
    pub required: bool,
    /// Whether it has several lines.
    pub lines: bool,
    /// Whether a form asks for it, and it does not only come from a page of the provider.
    pub asked: bool,
}

impl Input {
    /// Creates a required input that is not secret.
    pub(super) const fn open(name: &'static str, label: &'static str, hint: &'static str) -> Self {
        Self {
            name,
            label,
            hint,
            secret: false,
            required: true,
            lines: false,
            asked: true,
        }
    }

    /// Creates a required input that is secret.
    pub(super) const fn secret(name: &'static str, label: &'static str, hint: &'static str) -> Self {
        Self {
            secret: true,
            ..Self::open(name, label, hint)
        }
    }

    /// Creates the input for the address of the blog, which a provider without pages of its own does not know.
    /// Optional.
    pub(super) const fn base_url() -> Self {
        Self::open(
            "baseUrl",
            "Address of the blog",
            "where your website shows the posts, such as https://example.com/blog; the addresses of posts are made of it and their slugs",
        )
        .optional()
    }

    /// Makes the input one of several lines.
    pub(super) const fn lines(mut self) -> Self {
        self.lines = true;
        self
    }

    /// Creates an optional input that no form asks for.
    pub(super) const fn unasked(name: &'static str, label: &'static str, hint: &'static str) -> Self {
        Self {
            asked: false,
            required: false,
            ..Self::open(name, label, hint)
        }
    }

    /// Makes the input one that may be left out.
    pub(super) const fn optional(mut self) -> Self {
        self.required = false;
        self
    }
}

/// Function that opens a connection to a vendor.
type Open = fn(&Context, Connection) -> Result<Box<dyn Publisher>, Trouble>;

/// A vendor.
#[derive(Clone, Copy, Debug)]
pub struct Vendor {
    /// Provider that it publishes to.
    pub provider: Provider,
    /// Name of the provider, for people.
    pub name: &'static str,
    /// Values that a person enters.
    pub inputs: &'static [Input],
    /// Operations that it supports.
    pub capabilities: Capabilities,
    /// Whether what is made there carries our mark, so that it is found again by it. Without it, what has the slug now and
    /// was not there before counts as ours.
    pub marks: bool,
    /// Whether making the same again makes nothing twice, so that after a lost answer it is simply sent again.
    pub repeats: bool,
    /// Opens a connection to it.
    pub open: Open,
}

/// All capabilities, as most vendors have them.
pub(super) const ALL: Capabilities = Capabilities {
    connect_url: true,
    fields: true,
    images: true,
    update: true,
    unpublish: true,
    draft: true,
    schedule: true,
    lookup: true,
};

/// Vendors that can be connected, in the order of documentation.
const VENDORS: &[Vendor] = &[
    wordpress::VENDOR,
    ghost::VENDOR,
    webflow::VENDOR,
    shopify::VENDOR,
    wix::VENDOR,
    notion::VENDOR,
    contentful::VENDOR,
    strapi::VENDOR,
    directus::VENDOR,
    git::VENDOR,
    files::VENDOR,
    webhook::VENDOR,
];

/// The vendor of a provider; `None` for one that cannot be connected.
pub fn find(provider: Provider) -> Option<&'static Vendor> {
    VENDORS.iter().find(|vendor| vendor.provider == provider)
}

/// Reason, for people, why a provider without a vendor cannot be connected.
pub const fn unsupported(provider: Provider) -> &'static str {
    match provider {
        Provider::Framer => {
            "Framer has no interface over HTTP: its server API is a WebSocket protocol that only its own Node.js library speaks"
        }
        _ => "this version cannot publish there",
    }
}
