//! Rules for one sentence.

use std::ops::{Range, RangeInclusive};

use super::{
    FactChecker, FactFinding, FactKind, ProductFacts, money,
    money::Amount,
    sentence_place, sentence_text,
    words::{
        ADVERB, AFTER, ARTICLE, AVAILABLE, BE, Classes, FILLER, HAVING, NEGATION, PRICE, WEBSITE, classes,
    },
};
use crate::{
    answer_text::{AnswerText, Gap},
    citations::registrable_domain,
    mentions::MatchedAnswer,
    phrases::PhraseHit,
    sources::{SourceType, source_type},
};

/// Most words between subject and object.
const MAX_BETWEEN: usize = 7;
/// Share of a price within which another amount is the same, rounded.
const ROUNDING: f64 = 0.02;
/// Ratios of an amount to the price within which it may be a price without a word that says so.
const PLAUSIBLE: RangeInclusive<f64> = 0.5..=2.0;
/// Country domains that are used as if they were of no country.
const GENERIC_COUNTRIES: [&str; 5] = ["io", "ai", "co", "me", "tv"];
/// Years by which a sentence speaks of another time.
const YEARS: Range<u32> = 1900..2100;

/// A sentence that names the own brand or its products and nobody else.
pub(super) struct Sentence<'a> {
    pub(super) checker: &'a FactChecker,
    pub(super) matched: &'a MatchedAnswer<'a>,
    pub(super) tokens: Range<usize>,
    /// Names of the brand.
    pub(super) names: Vec<Range<usize>>,
    /// Names of the brand and of products.
    pub(super) brands: Vec<Range<usize>>,
    /// Names of products.
    pub(super) products: Vec<PhraseHit>,
    /// Features of any product.
    pub(super) features: Vec<PhraseHit>,
}

impl Sentence<'_> {
    fn answer(&self) -> &AnswerText {
        self.matched.answer
    }

    fn classes(&self, token: usize) -> Classes {
        classes(self.answer().normal(token))
    }

    /// Whether the sentence asks, supposes, or speaks of something that cannot be compared.
    pub(super) fn is_vetoed(&self, vetoes: &[PhraseHit]) -> bool {
        let is_named = |tokens: &Range<usize>| {
            let names = self
                .brands
                .iter()
                .chain(self.features.iter().map(|hit| &hit.tokens));
            names
                .into_iter()
                .any(|name| name.start < tokens.end && tokens.start < name.end)
        };
        let has_veto = vetoes.iter().any(|veto| {
            let is_here = self.tokens.start <= veto.tokens.start && veto.tokens.end <= self.tokens.end;
            is_here && !is_named(&veto.tokens)
        });
        let is_year = |token: usize| {
            let word = self.answer().normal(token);
            word.len() == 4 && word.parse().is_ok_and(|year| YEARS.contains(&year))
        };
        has_veto
            || sentence_text(self.answer(), &self.tokens).contains(['?', '%'])
            || self.tokens.clone().any(|token| {
                // a number beside a currency is no year
                is_year(token) && !is_named(&(token..token + 1)) && !self.is_money(token)
            })
    }

    fn is_money(&self, token: usize) -> bool {
        let place = sentence_place(self.answer(), &self.tokens);
        let word = &self.answer().tokens[token].place;
        self.amounts().iter().any(|amount| {
            place.start + amount.place.start <= word.start && word.end <= place.start + amount.place.end
        })
    }

    fn amounts(&self) -> Vec<Amount> {
        money::find(sentence_text(self.answer(), &self.tokens))
    }

    /// Adds what contradicts the facts.
    pub(super) fn check(&self, findings: &mut Vec<FactFinding>) {
        let is_negated = self.negations(self.tokens.clone()) > 0;
        if let Some((product, place)) = self.product() {
            if !is_negated {
                findings.extend(self.wrong_price(product, &place));
                findings.extend(self.wrong_availability(product, &place));
            }
            findings.extend(self.denied_feature(product, &place));
        }
        if !is_negated {
            findings.extend(self.wrong_website());
        }
    }

    /// Returns the only product that the sentence names, where its name is certainly whole.
    fn product(&self) -> Option<(&ProductFacts, Range<usize>)> {
        let [hit] = self.products.as_slice() else {
            return None;
        };
        let owner = *self.checker.name_owners.get(hit.phrase)?;
        let product = self.checker.products.get(owner)?;
        let (first, end) = (hit.tokens.start, hit.tokens.end);
        let answer = self.answer();
        if first > self.tokens.start && answer.tokens[first].gap != Gap::Apart {
            let is_brand = self.brands.iter().any(|name| name.contains(&(first - 1)));
            let is_plain = self.classes(first - 1) & (ARTICLE | BE | ADVERB | FILLER | PRICE | AFTER) != 0;
            if !is_brand && !is_plain {
                return None;
            }
        }
        if end < self.tokens.end && answer.tokens[end].gap != Gap::Apart {
            let next = answer.text(end..end + 1);
            if next.starts_with(|c: char| c.is_uppercase() || c.is_numeric()) {
                return None;
            }
        }
        Some((product, hit.tokens.clone()))
    }

    /// Returns the classes of the words of a range, if each is of an allowed one or belongs to a name of the brand.
    fn between(&self, range: Range<usize>, allowed: Classes) -> Option<Classes> {
        if range.start > range.end || range.len() > MAX_BETWEEN {
            return None;
        }
        range.into_iter().try_fold(0, |all, token| {
            let found = self.classes(token) & allowed;
            let is_name = self.names.iter().any(|name| name.contains(&token));
            (found != 0 || is_name).then_some(all | found)
        })
    }

    /// Whether the word before a subject, apart from articles, is of a class: the price of the desk.
    fn is_before(&self, subject: usize, class: Classes) -> bool {
        let mut token = subject;
        while token > self.tokens.start && token + MAX_BETWEEN > subject {
            token -= 1;
            let found = self.classes(token);
            if found & class != 0 {
                return true;
            }
            let is_article = found & (ARTICLE | FILLER) != 0;
            if !is_article && !self.brands.iter().any(|name| name.contains(&token)) {
                return false;
            }
        }
        false
    }

    /// Whether a claim ends at a token: with punctuation, the sentence, or a word that begins another thought.
    fn ends_at(&self, token: usize, more: Classes) -> bool {
        let answer = self.answer();
        token >= self.tokens.end
            || answer.tokens[token].gap == Gap::Apart && !answer.before(token).contains(['/', '+', '×', '('])
            || self.classes(token) & (AFTER | more) != 0
    }

    fn negations(&self, range: Range<usize>) -> usize {
        range.filter(|token| self.classes(*token) & NEGATION != 0).count()
    }

    fn finding(
        &self,
        kind: FactKind,
        product: Option<&ProductFacts>,
        claimed: &str,
        expected: String,
    ) -> FactFinding {
        FactFinding {
            kind,
            product: product.map(|product| product.id.clone()),
            claimed: claimed.to_owned(),
            expected,
            span: self.answer().span(self.tokens.clone()),
        }
    }

    fn wrong_price(&self, product: &ProductFacts, subject: &Range<usize>) -> Option<FactFinding> {
        let price = product.price.as_ref()?;
        let text = sentence_text(self.answer(), &self.tokens);
        let amounts = money::find(text);
        let [amount] = amounts.as_slice() else { return None };
        let value = amount.value?;
        if !amount.currencies.contains(&price.currency.as_str()) {
            return None;
        }
        if (value - price.amount).abs() <= (price.amount * ROUNDING).max(0.005) {
            return None;
        }
        let is_claim =
            self.is_price_of(subject, text, amount, value / price.amount) && is_whole_amount(text, amount);
        let expected = format!("{} {}", price.amount, price.currency);
        is_claim.then(|| {
            self.finding(
                FactKind::Price,
                Some(product),
                &text[amount.place.clone()],
                expected,
            )
        })
    }

    /// Whether an amount is said to be the price of the subject. `ratio` is the amount by the price that is known.
    fn is_price_of(&self, subject: &Range<usize>, text: &str, amount: &Amount, ratio: f64) -> bool {
        let answer = self.answer();
        let offset = sentence_place(answer, &self.tokens).start;
        let at = |byte: usize| {
            let mut tokens = self.tokens.clone();
            tokens.find(|token| answer.tokens[*token].place.end > offset + byte)
        };
        let Some(object) = at(amount.place.start) else {
            return false;
        };
        let end = answer.tokens[object..self.tokens.end]
            .iter()
            .take_while(|token| token.place.start < offset + amount.place.end)
            .count()
            + object;
        let allowed = ARTICLE | BE | ADVERB | FILLER | PRICE;
        let Some(found) = self.between(subject.end..object, allowed) else {
            return false;
        };
        let subject_end = answer.tokens[subject.end - 1].place.end - offset;
        let joint = text.get(subject_end..amount.place.start).unwrap_or("");
        let is_linked = if subject.end == object {
            // no word says that it is a price: under another heading it may be a cost of delivery
            PLAUSIBLE.contains(&ratio) && (joint.contains(['(', ':', '–', '—']) || joint.contains(" - "))
        } else {
            found & PRICE != 0 || found & BE != 0 && self.is_before(subject.start, PRICE)
        };
        is_linked && !joint.contains('|') && self.ends_at(end, 0)
    }

    fn wrong_availability(&self, product: &ProductFacts, subject: &Range<usize>) -> Option<FactFinding> {
        if !product.is_retired {
            return None;
        }
        let end = (subject.end + MAX_BETWEEN).min(self.tokens.end);
        let object = (subject.end..end).find(|token| self.classes(*token) & AVAILABLE != 0)?;
        let found = self.between(subject.end..object, BE | ADVERB | FILLER)?;
        let is_claim = found & BE != 0 && self.ends_at(object + 1, FILLER | ADVERB);
        let claimed = self.answer().text(subject.end..object + 1);
        is_claim.then(|| {
            self.finding(
                FactKind::Availability,
                Some(product),
                claimed,
                "retired".to_owned(),
            )
        })
    }

    fn denied_feature(&self, product: &ProductFacts, subject: &Range<usize>) -> Option<FactFinding> {
        let own = self.features.iter().filter_map(|hit| {
            let feature = self.checker.feature_owners.get(hit.phrase)?;
            let is_own = self.checker.products.get(feature.product)?.id == product.id;
            (is_own && hit.tokens.start >= subject.end).then_some((feature, &hit.tokens))
        });
        for (feature, object) in own {
            let between = subject.end..object.start;
            let Some(found) = self.between(between.clone(), ARTICLE | ADVERB | HAVING | NEGATION) else {
                continue;
            };
            let outside = (self.tokens.start..subject.start).chain(object.end..self.tokens.end);
            let is_single = self.negations(between.clone()) == 1
                && outside
                    .filter(|token| self.classes(*token) & NEGATION != 0)
                    .count()
                    == 0;
            if is_single && found & HAVING != 0 && self.ends_at(object.end, 0) {
                let claimed = self.answer().text(between.start..object.end);
                let expected = feature.text.clone();
                return Some(self.finding(FactKind::Feature, Some(product), claimed, expected));
            }
        }
        None
    }

    fn wrong_website(&self) -> Option<FactFinding> {
        let answer = self.answer();
        let is_here =
            |tokens: &Range<usize>| self.tokens.start <= tokens.start && tokens.end <= self.tokens.end;
        let mut hosts = answer.hosts.iter().filter(|host| is_here(&host.tokens));
        let (host, None) = (hosts.next()?, hosts.next()) else {
            return None;
        };
        let domains: Vec<&str> = self.own_domains();
        if !is_foreign(self.matched, &host.name) || is_of_a_country(&host.name, &domains) {
            return None;
        }
        let object = &host.tokens;
        let is_address = answer.before(object.start).ends_with(['@', '/']);
        let allowed = ARTICLE | BE | ADVERB | FILLER | WEBSITE;
        let is_said = |name: &Range<usize>| {
            let found = self.between(name.end..object.start, allowed);
            found.is_some_and(|found| {
                found & WEBSITE != 0 || found & BE != 0 && self.is_before(name.start, WEBSITE)
            })
        };
        let is_claim = !is_address && self.names.iter().any(is_said) && self.ends_at(object.end, 0);
        let expected = domains.first()?;
        is_claim.then(|| self.finding(FactKind::Website, None, &host.name, (*expected).to_owned()))
    }

    fn own_domains(&self) -> Vec<&str> {
        let own = self.matched.matcher.brands.iter().filter(|brand| brand.is_own);
        own.flat_map(|brand| brand.domains.iter().map(String::as_str))
            .collect()
    }
}

/// Whether nothing at an amount makes it more or less than itself: a range, a sign, a unit of time.
fn is_whole_amount(text: &str, amount: &Amount) -> bool {
    let before = &text[..amount.place.start];
    let is_modified = before.ends_with(['-', '+', '~', '≈', '<', '>', '≤', '≥'])
        || before.trim_end().ends_with(['+', '~', '≈', '<', '>', '≤', '≥']);
    let rest = text[amount.place.end..].trim_start();
    let behind_dash = rest.strip_prefix(['-', '–', '—', '‑']);
    let is_range = behind_dash.is_some_and(|rest| {
        rest.trim_start_matches([' ', '\u{a0}', '€', '$', '£', '¥'])
            .starts_with(|c: char| c.is_ascii_digit())
    });
    !is_modified && !is_range && !rest.starts_with(['/', '+', '*', '(', '×', '='])
}

/// Whether a host is registered, of no tracked brand, and no platform on which anybody has pages.
fn is_foreign(matched: &MatchedAnswer<'_>, host: &str) -> bool {
    let is_known = psl::suffix(host.as_bytes()).is_some_and(|suffix| suffix.is_known());
    is_known && matched.matcher.domain_owners(host).is_empty() && source_type(host) == SourceType::Other
}

/// Whether a host is an own domain under the suffix of a country: the brand may have a website there.
fn is_of_a_country(host: &str, own: &[&str]) -> bool {
    let label = |host: &str| {
        registrable_domain(host)
            .split('.')
            .next()
            .unwrap_or("")
            .to_owned()
    };
    let top = host.rsplit('.').next().unwrap_or("");
    top.len() == 2
        && !GENERIC_COUNTRIES.contains(&top)
        && own.iter().any(|domain| label(domain) == label(host))
}
