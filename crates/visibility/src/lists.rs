//! Lists in data files: an entry per line; lines that begin with `#` are comments, and `[name]` begins a section.

/// Returns the entries of a file without sections.
pub(crate) fn entries(file: &str) -> impl Iterator<Item = &str> {
    file.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// An entry of a file with sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry<'f> {
    /// Name of the section.
    pub(crate) section: &'f str,
    /// The entry.
    pub(crate) text: &'f str,
}

/// Returns the entries of a file with sections.
pub(crate) fn sections(file: &str) -> impl Iterator<Item = Entry<'_>> {
    let mut section = "";
    entries(file).filter_map(move |text| {
        if let Some(name) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name;
            return None;
        }
        Some(Entry { section, text })
    })
}

#[cfg(test)]
mod tests {
    use super::{Entry, sections};

    #[test]
    fn entries_belong_to_their_section() {
        let found: Vec<Entry<'_>> = sections("# comment\n[en]\n a b \n\n[de]\nc\n").collect();
        let expected = [["en", "a b"], ["de", "c"]].map(|[section, text]| Entry { section, text });
        assert_eq!(found, expected);
    }
}
