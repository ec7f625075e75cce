//! Names in titles, headings and the texts of links, without the decoration that pages put around them.

/// Separators between a title and the name of the site, or between a name and its description.
const BETWEEN: [&str; 8] = [" | ", " - ", " – ", " — ", " · ", " » ", " :: ", ": "];
/// Characters at the end of a line that say nothing.
const END: [char; 10] = ['?', '!', '.', ':', ',', '…', '›', '→', '¶', '#'];

/// The parts of a title or heading, each bare; none empty.
pub fn parts(text: &str) -> Vec<&str> {
    let mut parts = vec![text];
    for between in BETWEEN {
        parts = parts.into_iter().flat_map(|part| part.split(between)).collect();
    }
    parts
        .into_iter()
        .map(|part| bare(part).trim_end_matches(END).trim_end())
        .filter(|part| !part.is_empty())
        .collect()
}

/// A heading without the number of its section and the sign that links to it.
pub fn bare(heading: &str) -> &str {
    let heading = heading.trim().trim_end_matches(['¶', '#']).trim_end();
    let Some((number, rest)) = heading.split_once(' ') else {
        return heading;
    };
    // `3.`, `3.1.`, `3.1.2`, `B.2.`; no `3.5 mm`, `24 plants` and `J.`
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let mut levels = number.split('.');
    let first = levels.next().unwrap_or_default();
    let is_number = number.contains(|c: char| c.is_ascii_digit())
        && (digits(first) || first.len() == 1 && first.is_ascii())
        && levels.all(digits);
    if is_number && (number.ends_with('.') || number.matches('.').count() > 1) {
        rest.trim_start()
    } else {
        heading
    }
}

#[cfg(test)]
mod tests {
    use super::{bare, parts};

    #[test]
    fn numbers_of_sections_are_no_part_of_a_name() {
        for (heading, name) in [
            ("15.3. Creating a repository", "Creating a repository"),
            ("2. Installing", "Installing"),
            ("4.1.2 Limits", "Limits"),
            ("B.2. Organization", "Organization"),
            ("Release highlights¶", "Release highlights"),
            ("3.5 mm jacks", "3.5 mm jacks"),
            ("24 plants", "24 plants"),
            ("J. R. Tolkien", "J. R. Tolkien"),
            ("1.", "1."),
        ] {
            assert_eq!(bare(heading), name);
        }
        assert_eq!(
            parts("1. Standing desks: how high? | Acme"),
            ["Standing desks", "how high", "Acme"]
        );
    }
}
