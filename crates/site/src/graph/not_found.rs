//! Pages that say "not found" with a status of 200.

use super::{Index, flag};
use crate::{origin::Probe, page::UrlId, text::folded};

/// Pages of fewer words may be soft 404s by what they say.
const SOFT_404_WORDS: u32 = 200;

/// How servers say "not found" with a status of 200; folded, found in the title or first heading.
const NOT_FOUND: [&str; 23] = [
    "not found",
    "page not found",
    "does not exist",
    "nicht gefunden",
    "page introuvable",
    "non trouvée",
    "no encontrada",
    "no se encuentra",
    "non trovata",
    "não encontrada",
    "niet gevonden",
    "nie znaleziono",
    "не найдена",
    "не знайдено",
    "hittades inte",
    "ikke fundet",
    "ikke funnet",
    "ei löytynyt",
    "nenalezena",
    "bulunamadı",
    "見つかりません",
    "找不到",
    "찾을 수 없",
];

/// Whether a page of so many words says so by its title or first heading.
pub fn says_so(words: u32, names: [Option<&str>; 2]) -> bool {
    words < SOFT_404_WORDS && names.into_iter().flatten().any(names_it)
}

fn names_it(text: &str) -> bool {
    let folded = folded(text);
    NOT_FOUND.iter().any(|phrase| folded.contains(phrase)) || folded.contains("404") && says_404(&folded)
}

/// Words before the number of an error, or behind it.
const ERROR: [&str; 20] = [
    "error",
    "errors",
    "fehler",
    "erreur",
    "errore",
    "erro",
    "fout",
    "fel",
    "feil",
    "fejl",
    "virhe",
    "błąd",
    "chyba",
    "hiba",
    "hata",
    "ошибка",
    "помилка",
    "http",
    "status",
    "oops",
];
/// Words behind it.
const PAGE: [&str; 9] = [
    "page",
    "not",
    "seite",
    "nicht",
    "pagina",
    "página",
    "sorry",
    "страница",
    "strona",
];

/// The number of the error, and not of a car, an area or a house: alone between marks, or with a word for what it is at
/// the beginning or the end.
fn says_404(folded: &str) -> bool {
    let words = |part: &str| {
        let words = part.split(|c: char| !c.is_alphanumeric());
        words
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let is_error = |pair: &[String]| {
        let [a, b] = [&*pair[0], &*pair[1]];
        ERROR.contains(&a) && b == "404" || a == "404" && (ERROR.contains(&b) || PAGE.contains(&b))
    };
    let all = words(folded);
    let alone = |part: &str| {
        let part = words(part);
        part.len() == 1 && part[0] == "404"
    };
    let marks = [" - ", " – ", " — ", " | ", " · ", ": ", "! ", "» "];
    let parts = marks.iter().fold(vec![folded], |parts, mark| {
        parts.into_iter().flat_map(|part| part.split(mark)).collect()
    });
    let pairs = all.windows(2);
    parts.into_iter().any(alone)
        || pairs.clone().next().is_some_and(is_error)
        || pairs.last().is_some_and(is_error)
}

/// Pages that answer what a made-up URL answers. A site whose made-up URLs answer with its home page
/// tells nothing about the rest.
pub fn mark(index: &mut Index, probes: &[Probe], home: UrlId) {
    let same = |index: &Index, id: usize, probe: &Probe| {
        probe.text != 0 && index.texts[id] == probe.text
            || probe.text == 0 && probe.title != 0 && index.titles[id] == probe.title && index.texts[id] == 0
    };
    for probe in probes.iter().filter(|p| p.status == 200) {
        if index.texts.get(home.0 as usize).is_some() && same(index, home.0 as usize, probe) {
            continue;
        }
        for id in 0..index.states.len() {
            if index.statuses[id] == 200 && same(index, id, probe) {
                index.flags[id] |= flag::SOFT_404;
            }
        }
    }
}
