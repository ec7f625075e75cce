//! Soft 404s: pages that say "not found" with status 200.

use std::cmp::Reverse;

use searchwright_text::{folded, minhash::Sketch};

use super::{PageFlags, SiteGraph, State};
use crate::{origin::Probe, page::UrlId};

/// Minimum similarity (share of common shingles) of a text to the response to a made-up URL.
const NEAR: f64 = 0.9;

/// Number of pages that may resemble the response to a made-up URL on any site, however small.
const MAX_ALIKE: usize = 5;

/// Phrases for "not found", folded, that are searched in the title and the first heading.
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

/// Whether the title or the first heading says "not found".
pub fn says_so(names: [Option<&str>; 2]) -> bool {
    names.into_iter().flatten().any(names_it)
}

fn names_it(text: &str) -> bool {
    let folded = folded(text);
    NOT_FOUND.iter().any(|phrase| folded.contains(phrase)) || folded.contains("404") && says_404(&folded)
}

/// Words before or after the number of an error.
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
/// Words only after the number of an error.
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

/// Whether 404 is an error number, and not that of a car model, an area code or a house: it stands alone between
/// separators, or next to a word for an error at the beginning or the end.
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

/// Marks pages whose text is that of the response to a made-up URL, or nearly that, since the text may contain the
/// requested URL. Texts of fewer than 50 words have no sketch and have to be identical. Nothing is marked if the home
/// page is among them, or most pages: then the site responds with its home page, or the text is a template without
/// content, as of an application that renders in the browser.
pub fn mark(index: &mut SiteGraph, probes: &[Probe], sketches: &[(u32, Sketch)], home: UrlId) {
    let is_page = |id: &usize| {
        index.statuses[*id] == 200
            && index.states[*id] == State::Html
            && index.flags[*id].contains(PageFlags::INTERNAL)
    };
    let pages = (0..index.states.len()).filter(is_page).count();
    let mut found = Vec::new();
    for probe in probes.iter().filter(|p| p.status == 200) {
        let same = |id: usize| {
            probe.text != 0 && index.texts[id] == probe.text
                || probe.text == 0
                    && probe.title != 0
                    && index.titles[id] == probe.title
                    && index.texts[id] == 0
        };
        let near = sketches.iter().filter_map(|(id, sketch)| {
            let similarity = probe.sketch?.similarity(sketch);
            (similarity >= NEAR).then_some((*id, (similarity * 100.0) as u8))
        });
        let same = (0..index.states.len()).filter(|id| is_page(id) && same(*id));
        let mut alike: Vec<(u32, u8)> = same.map(|id| (id as u32, 100)).chain(near).collect();
        keep_best(&mut alike);
        if alike.len() <= MAX_ALIKE.max(pages / 2) && alike.iter().all(|(id, _)| *id != home.0) {
            found.extend(alike);
        }
    }
    keep_best(&mut found);
    for (id, _) in &found {
        index.flags[*id as usize] |= PageFlags::SOFT_404;
    }
    index.not_found = found;
}

/// Keeps the highest similarity of each page.
fn keep_best(alike: &mut Vec<(u32, u8)>) {
    alike.sort_unstable_by_key(|(id, percent)| (*id, Reverse(*percent)));
    alike.dedup_by_key(|(id, _)| *id);
}
