//! The links of a crawl reversed: sources of links to each URL.

use super::edges::{EdgeKind, Edges};

/// Sources of links by target. Takes hundreds of megabytes on a large site.
#[derive(Debug, Default)]
pub(crate) struct Inlinks {
    /// Sources of target `t` are `sources[starts[t]..starts[t + 1]]`.
    starts: Vec<u32>,
    /// Sources per target, sorted and unique; a link of a page to itself is left out.
    sources: Vec<u32>,
}

impl Inlinks {
    /// Bit of a source whose links to the target are all nofollow.
    pub(super) const NOFOLLOW: u32 = 1 << 31;

    pub(super) fn turned(edges: &Edges, length: usize) -> Self {
        let links = |source: u32| {
            edges
                .targets_of(source)
                .filter(move |(target, kind)| kind.is_link() && *target != source)
        };
        let mut starts = vec![0_u32; length + 1];
        for source in 0..length as u32 {
            links(source).for_each(|(target, _)| starts[target as usize + 1] += 1);
        }
        for i in 0..length {
            starts[i + 1] += starts[i];
        }
        let mut sources = vec![0; starts[length] as usize];
        let mut at = starts.clone();
        for source in 0..length as u32 {
            for (target, kind) in links(source) {
                let place = &mut at[target as usize];
                let nofollow = if kind == EdgeKind::NoFollow {
                    Self::NOFOLLOW
                } else {
                    0
                };
                sources[*place as usize] = source | nofollow;
                *place += 1;
            }
        }
        Self { starts, sources }
    }

    /// Returns sources of links to a URL in ascending order, with [`Self::NOFOLLOW`].
    pub(super) fn sources_of(&self, target: u32) -> &[u32] {
        let i = target as usize;
        match self.starts.get(i + 1) {
            Some(end) => &self.sources[self.starts[i] as usize..*end as usize],
            None => &[],
        }
    }
}
