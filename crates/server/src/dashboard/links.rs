//! Links around a list: filters, order, pages, and the whole of it as a file.

use super::visit::Visit;

/// A link that sets one filter of a list.
#[derive(Debug)]
pub(crate) struct FilterLink {
    /// Address of the list with the filter.
    pub href: String,
    /// Text.
    pub text: String,
    /// Whether it is in force.
    pub is_current: bool,
}

impl FilterLink {
    /// Creates the link that sets a parameter of this page, or removes it.
    pub fn new(visit: &Visit, name: &str, value: Option<&str>, text: impl Into<String>) -> Self {
        Self {
            href: visit.with_parameter(name, value),
            text: text.into(),
            is_current: visit.parameter(name) == value,
        }
    }
}

/// Order of a table, which the address names.
pub(crate) struct Sorting<'v> {
    visit: &'v Visit,
    name: &'static str,
    usual: &'static str,
    current: &'static str,
    place: &'static str,
}

impl<'v> Sorting<'v> {
    /// Creates the order of a table by the parameter of the address; the usual one if the address names none.
    pub const fn new(
        visit: &'v Visit,
        name: &'static str,
        usual: &'static str,
        named: Option<&'static str>,
    ) -> Self {
        let current = match named {
            Some(named) => named,
            None => usual,
        };
        Self {
            visit,
            name,
            usual,
            current,
            place: "",
        }
    }

    /// The table is not at the top of the page, but at this place.
    #[must_use]
    pub const fn at(self, place: &'static str) -> Self {
        Self { place, ..self }
    }

    /// A column of texts or times by which the table is sorted.
    pub fn order_by(&self, word: &'static str, text: &'static str, order: &'static str) -> SortColumn {
        let value = Some(word).filter(|word| *word != self.usual);
        SortColumn {
            href: self.visit.with_parameter(self.name, value) + self.place,
            text,
            order: Some(order).filter(|_| self.current == word),
            is_number: false,
        }
    }

    /// A column of numbers by which the table is sorted.
    pub fn order_by_number(&self, word: &'static str, text: &'static str, order: &'static str) -> SortColumn {
        SortColumn {
            is_number: true,
            ..self.order_by(word, text, order)
        }
    }
}

/// Head of a column by which a table can be sorted.
pub(crate) struct SortColumn {
    /// Address of the table in its order.
    pub href: String,
    /// Text.
    pub text: &'static str,
    /// Direction, if the table is in its order.
    pub order: Option<&'static str>,
    /// Whether it has numbers.
    pub is_number: bool,
}

/// Links to the first and the next page of a list, and to the whole of it as a file.
#[derive(Debug, Default)]
pub(crate) struct Paging {
    /// First page; `None` on it.
    pub first: Option<String>,
    /// Next page; `None` on the last.
    pub next: Option<String>,
    /// File with all rows that pass the filters.
    pub file: Option<String>,
}

impl Paging {
    /// Creates the links of this page of a list.
    pub fn new(visit: &Visit, next_cursor: Option<&str>) -> Self {
        let first = visit.parameter("cursor");
        Self {
            first: first.map(|_| visit.with_parameter("cursor", None)),
            next: next_cursor.map(|cursor| visit.with_parameter("cursor", Some(cursor))),
            file: None,
        }
    }

    /// Creates the link to the file of a list that is shown as a whole.
    pub fn of_whole(visit: &Visit, rest: &str) -> Self {
        Self::default().with_file(visit, rest)
    }

    /// Whether there is no link.
    pub const fn is_empty(&self) -> bool {
        self.first.is_none() && self.next.is_none() && self.file.is_none()
    }

    /// Adds the link to the file below the project.
    #[must_use]
    pub fn with_file(mut self, visit: &Visit, rest: &str) -> Self {
        self.file = Some(visit.file(rest));
        self
    }
}
