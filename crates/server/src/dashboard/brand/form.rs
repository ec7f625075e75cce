//! Forms of brand data: what a field shows of a record, and what a record becomes by what was typed.

use searchwright_engine::{Failure, failure};
use serde_json::{Map, Value, json};

use super::resource::{BrandFieldSpec, BrandInput};
use crate::dashboard::{session::FormData, show};

/// Characters between a statement and its source.
const BAR: &str = " | ";

/// A word that can be chosen.
pub(super) struct BrandOption {
    pub value: String,
    pub text: String,
    pub is_chosen: bool,
}

/// A field with what it shows.
pub(super) struct BrandField {
    pub name: &'static str,
    pub label: &'static str,
    pub hint: &'static str,
    pub value: String,
    /// Currency of a price; the whole time of a day.
    pub second: String,
    pub options: Vec<BrandOption>,
    input: BrandInput,
}

impl BrandField {
    pub fn is_area(&self) -> bool {
        use BrandInput::{Area, Claims, Lines, Text};
        matches!(self.input, Area | Text | Lines | Claims)
    }

    pub fn is_tick(&self) -> bool {
        self.input == BrandInput::Tick
    }

    pub fn is_ticked(&self) -> bool {
        self.value == "true"
    }

    pub fn is_choice(&self) -> bool {
        matches!(self.input, BrandInput::Choice(_) | BrandInput::Product)
    }

    pub fn are_choices(&self) -> bool {
        matches!(self.input, BrandInput::Choices(_))
    }

    pub fn is_price(&self) -> bool {
        self.input == BrandInput::Price
    }

    pub fn is_day(&self) -> bool {
        self.input == BrandInput::Day
    }

    pub fn is_required(&self) -> bool {
        matches!(self.input, BrandInput::Name | BrandInput::Text)
    }
}

/// A product that can be chosen.
pub(super) struct ProductName {
    pub id: String,
    pub name: String,
}

/// Text of a value.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn lines_of(value: &Value) -> String {
    let lines = value.as_array().into_iter().flatten().map(text_of);
    lines.collect::<Vec<_>>().join("\n")
}

fn claims_of(value: &Value) -> String {
    let claims = value.as_array().into_iter().flatten();
    let lines =
        claims.map(|claim| format!("{}{BAR}{}", text_of(&claim["text"]), text_of(&claim["sourceUrl"])));
    lines.collect::<Vec<_>>().join("\n")
}

fn options(
    spec: &BrandFieldSpec,
    products: &[ProductName],
    chosen: impl Fn(&str) -> bool,
) -> Vec<BrandOption> {
    let option = |value: &str, text: &str| BrandOption {
        is_chosen: chosen(value),
        value: value.to_owned(),
        text: text.to_owned(),
    };
    match spec.input {
        BrandInput::Choice(words) | BrandInput::Choices(words) => {
            words.iter().map(|(value, text)| option(value, text)).collect()
        }
        BrandInput::Product => std::iter::once(option("", "none"))
            .chain(products.iter().map(|product| option(&product.id, &product.name)))
            .collect(),
        _ => Vec::new(),
    }
}

/// Fields that show a record.
pub(super) fn of_record(
    specs: &'static [BrandFieldSpec],
    record: &Value,
    products: &[ProductName],
) -> Vec<BrandField> {
    let fields = specs.iter().map(|spec| {
        let value = &record[spec.name];
        let (shown, second) = match spec.input {
            BrandInput::Lines => (lines_of(value), String::new()),
            BrandInput::Claims => (claims_of(value), String::new()),
            BrandInput::Price => (text_of(&value["amount"]), text_of(&value["currency"])),
            BrandInput::Day => {
                let whole = text_of(value);
                (whole.chars().take(10).collect(), whole)
            }
            _ => (text_of(value), String::new()),
        };
        let chosen = |word: &str| match value {
            Value::Array(words) => words.iter().any(|known| known == word),
            Value::Null => word.is_empty(),
            value => value == word,
        };
        BrandField {
            name: spec.name,
            label: spec.label,
            hint: spec.hint,
            value: shown,
            second,
            options: options(spec, products, chosen),
            input: spec.input,
        }
    });
    fields.collect()
}

/// Fields that show what was typed.
pub(super) fn of_form(
    specs: &'static [BrandFieldSpec],
    form: &FormData,
    products: &[ProductName],
) -> Vec<BrandField> {
    let fields = specs.iter().map(|spec| BrandField {
        name: spec.name,
        label: spec.label,
        hint: spec.hint,
        value: form.get(spec.name).to_owned(),
        second: form.get(&second_name(spec)).to_owned(),
        options: options(spec, products, |word| {
            form.all(spec.name).any(|chosen| chosen == word)
        }),
        input: spec.input,
    });
    fields.collect()
}

/// Name of the second input of a field.
fn second_name(spec: &BrandFieldSpec) -> String {
    format!("{}-2", spec.name)
}

fn pointer(spec: &BrandFieldSpec) -> String {
    format!("/{}", spec.name)
}

fn price(spec: &BrandFieldSpec, form: &FormData) -> Result<Value, Failure> {
    let (amount, second) = (form.get(spec.name).trim(), second_name(spec));
    let currency = form.get(&second).trim();
    if amount.is_empty() && currency.is_empty() {
        return Ok(Value::Null);
    }
    let amount: f64 = amount.replace(',', ".").parse().map_err(|_| {
        failure::fault(
            &pointer(spec),
            "invalid",
            "has to be an amount, such as 499.50, with its currency",
        )
    })?;
    Ok(json!({ "amount": amount, "currency": currency }))
}

fn day(spec: &BrandFieldSpec, form: &FormData) -> Value {
    let second = second_name(spec);
    let (typed, whole) = (form.get(spec.name).trim(), form.get(&second));
    match typed {
        "" => Value::Null,
        // A day that was not changed keeps its time.
        day if !whole.is_empty() && whole.starts_with(day) => whole.into(),
        day => format!("{day}T00:00:00.000Z").into(),
    }
}

/// Value of a field as it was typed.
fn typed_value(spec: &BrandFieldSpec, form: &FormData) -> Result<Value, Failure> {
    let text = form.get(spec.name).replace("\r\n", "\n");
    let text = text.trim();
    let lines = || {
        text.lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect::<Vec<_>>()
    };
    Ok(match spec.input {
        BrandInput::Name | BrandInput::Text | BrandInput::Choice(_) => text.into(),
        BrandInput::Line | BrandInput::Area | BrandInput::Product if text.is_empty() => Value::Null,
        BrandInput::Line | BrandInput::Area | BrandInput::Product => text.into(),
        BrandInput::Lines => lines().into(),
        BrandInput::Tick => (text == "true").into(),
        BrandInput::Choices(_) => form.all(spec.name).collect::<Vec<_>>().into(),
        BrandInput::Number if text.is_empty() => 0.into(),
        BrandInput::Number => {
            let number: i64 = text
                .parse()
                .map_err(|_| failure::fault(&pointer(spec), "invalid", "has to be a whole number"))?;
            number.into()
        }
        BrandInput::Price => price(spec, form)?,
        BrandInput::Day => day(spec, form),
        BrandInput::Claims => {
            let claims: Result<Vec<Value>, Failure> = lines()
                .into_iter()
                .map(|line| match line.rsplit_once('|') {
                    Some((text, source)) => Ok(json!({ "text": text.trim(), "sourceUrl": source.trim() })),
                    None => Err(failure::fault(
                        &pointer(spec),
                        "invalid",
                        format!(
                            "needs a source after a vertical bar in the line \"{}\"",
                            show::cut(line, 60)
                        ),
                    )),
                })
                .collect();
            claims?.into()
        }
    })
}

/// The record that was typed.
pub(super) fn typed(specs: &'static [BrandFieldSpec], form: &FormData) -> Result<Value, Failure> {
    let mut record = Map::new();
    for spec in specs {
        record.insert(spec.name.to_owned(), typed_value(spec, form)?);
    }
    Ok(record.into())
}
