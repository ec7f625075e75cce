//! The names inbox and its decisions.

use searchwright_contract::{
    Code, Fault, List, Problem, Scope,
    competitors::Competitor,
    ids::ItemId,
    names::{
        DecideNames, ListNames, NameDecision, NameOutcome, NameStatus, NameVerdict, NamesDecided, UnknownName,
    },
};
use searchwright_store::{
    Error, Tx,
    brand::{self, Resource},
    names::{self, InboxName, NamePlace},
    projects,
};
use searchwright_tracking::{
    TrackedBrands,
    names::{self as inbox, name_key},
};

use super::{
    brand::profile,
    items,
    items::{changed_since_read, refuse},
    jobs::with_actions,
};
use crate::{
    Engine,
    brand::Check,
    call::{Call, limit},
    endpoint::Handle,
    failure::Result,
    jobs::answer_analysis,
};

/// Other spellings of a brand, at most.
const MAX_ALIASES: usize = 50;
/// Ignored names of a project, at most.
const MAX_IGNORED: u64 = 5_000;

impl Handle<ListNames> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: ListNames) -> Result<List<UnknownName>> {
        let (scope, limit) = (call.scope()?, limit(operation.limit));
        let after: Option<NamePlace> = call.after(&operation, operation.cursor.as_deref())?;
        let project = projects::get(tx, scope).await?;
        let brands = TrackedBrands::load(tx, scope, &project).await?;
        let status = operation.status.unwrap_or(NameStatus::Open);
        let rows = inbox::list(tx, scope, &brands, status, after, limit + 1).await?;
        let rows = rows.places.into_iter().zip(rows.names).collect();
        let page = call.page(&operation, limit, rows, |(place, _)| place.clone())?;
        Ok(List {
            data: page.data.into_iter().map(|(_, name)| name).collect(),
            next_cursor: page.next_cursor,
        })
    }
}

/// A decision with what is known about its name.
struct CheckedDecision {
    item: NameDecision,
    key: String,
    competitor: Option<ItemId>,
}

impl Handle<DecideNames> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: DecideNames) -> Result<NamesDecided> {
        let scope = call.scope()?;
        let changes_brand =
            |item: &NameDecision| matches!(item.decision, NameVerdict::Alias | NameVerdict::Competitor);
        let changes_brands = operation.items.iter().any(changes_brand);
        if let Some(problem) = call.refusal(Scope::BrandWrite).filter(|_| changes_brands) {
            return Err(problem.into());
        }
        projects::lock(tx, scope).await?;
        let mut decided = check(call, tx, operation.items).await?;
        add_competitors(call, tx, &mut decided).await?;
        add_aliases(call, tx, &decided).await?;
        let keys_of = |wanted: &dyn Fn(&NameDecision) -> bool| -> Vec<String> {
            let wanted = decided.iter().filter(|decided| wanted(&decided.item));
            wanted.map(|decided| decided.key.clone()).collect()
        };
        // They are no longer unknown, so they need not wait for the analysis to leave the list.
        names::delete(tx, scope, &keys_of(&changes_brand)).await?;
        let by = call.credential.name();
        for (verdict, status) in [
            (NameVerdict::Ignore, NameStatus::Ignored),
            (NameVerdict::Open, NameStatus::Open),
        ] {
            let keys = keys_of(&|item| item.decision == verdict);
            names::set_status(tx, scope, &keys, status, by, call.now).await?;
        }
        refuse_more_ignored(call, tx).await?;
        let job = match changes_brands {
            true => answer_analysis::enqueue(call, tx).await?,
            false => None,
        };
        Ok(NamesDecided {
            data: decided
                .into_iter()
                .map(|decided| NameOutcome {
                    name: decided.item.name,
                    decision: decided.item.decision,
                    competitor_id: decided.competitor,
                })
                .collect(),
            job: job.map(|job| with_actions(call, job)),
        })
    }
}

/// Names the faults of all decisions.
async fn check(call: &Call, tx: &mut Tx, items: Vec<NameDecision>) -> Result<Vec<CheckedDecision>> {
    let scope = call.scope()?;
    let keys: Vec<String> = items.iter().map(|item| name_key(&item.name)).collect();
    let found = names::find(tx, scope, &keys).await?;
    let mut faults: Vec<Fault> = Vec::new();
    let mut decided: Vec<CheckedDecision> = Vec::with_capacity(items.len());
    for (at, (mut item, found)) in items.into_iter().zip(found).enumerate() {
        let mut check = Check::new(format!("/items/{at}"), &mut faults);
        item.name = item.name.trim().to_owned();
        let is_repeated = decided.iter().any(|earlier| earlier.key == keys[at]);
        check_members(&item, found.as_ref(), is_repeated, &mut check);
        let mut competitor = None;
        if let Some(id) = item
            .competitor_id
            .as_deref()
            .filter(|_| item.decision == NameVerdict::Alias)
        {
            competitor = find_competitor(call, tx, id).await?;
            if competitor.is_none() {
                check.fault("competitorId", "not_found", "is not a competitor of this project");
            }
        }
        decided.push(CheckedDecision {
            item,
            key: keys[at].clone(),
            competitor,
        });
    }
    refuse(faults)?;
    Ok(decided)
}

fn check_members(item: &NameDecision, found: Option<&InboxName>, is_repeated: bool, check: &mut Check<'_>) {
    if is_repeated {
        check.fault("name", "repeated", "is the same name as that of an earlier item");
    } else if found.is_none() {
        check.fault("name", "not_found", "is not in the inbox; see names.list");
    }
    if item.competitor_id.is_some() && item.decision != NameVerdict::Alias {
        check.fault("competitorId", "not_allowed", "goes only with the decision alias");
    }
    match (&item.domain, item.decision) {
        (None, NameVerdict::Competitor) => check.fault(
            "domain",
            "required",
            "is missing: the website of the new competitor",
        ),
        (Some(_), NameVerdict::Alias | NameVerdict::Ignore | NameVerdict::Open) => {
            check.fault("domain", "not_allowed", "goes only with the decision competitor");
        }
        _ => {}
    }
}

async fn find_competitor(call: &Call, tx: &mut Tx, id: &str) -> Result<Option<ItemId>> {
    let Ok(id) = ItemId::parse(id) else {
        return Ok(None);
    };
    match brand::get::<Competitor>(tx, call.scope()?, Resource::Competitors, id).await {
        Ok(_) => Ok(Some(id)),
        Err(Error::Missing) => Ok(None),
        Err(other) => Err(other.into()),
    }
}

/// Creates the competitors by the rules of their operation.
async fn add_competitors(call: &Call, tx: &mut Tx, decided: &mut [CheckedDecision]) -> Result<()> {
    let (mut places, mut new) = (Vec::new(), Vec::new());
    for (at, decided) in decided.iter().enumerate() {
        if let (NameVerdict::Competitor, Some(domain)) = (decided.item.decision, &decided.item.domain) {
            places.push(at);
            new.push(Competitor {
                name: decided.item.name.clone(),
                domain: domain.clone(),
                aliases: Vec::new(),
                owned_domains: Vec::new(),
                ambiguous: false,
                notes: None,
                claims: Vec::new(),
                active: true,
            });
        }
    }
    if new.is_empty() {
        return Ok(());
    }
    let added = items::create_from(call, tx, new, None, |at| places[at]).await?;
    for (at, added) in places.iter().zip(added.data) {
        decided[*at].competitor = added.item.map(|item| item.id);
    }
    Ok(())
}

/// Adds spellings to the own brand and to competitors.
async fn add_aliases(call: &Call, tx: &mut Tx, decided: &[CheckedDecision]) -> Result<()> {
    let scope = call.scope()?;
    let is_alias = |decided: &CheckedDecision| decided.item.decision == NameVerdict::Alias;
    let mut owners: Vec<Option<ItemId>> = decided
        .iter()
        .filter(|decided| is_alias(decided))
        .map(|decided| decided.competitor)
        .collect();
    owners.sort_unstable();
    owners.dedup();
    for owner in owners {
        let of_owner = |decided: &CheckedDecision| is_alias(decided) && decided.competitor == owner;
        let Some(id) = owner else {
            let mut stored = profile(tx, scope).await?;
            extend(&mut stored.profile.aliases, decided, of_owner)?;
            let written = brand::set_profile(tx, scope, &stored.profile, stored.version, call.now);
            written.await.map_err(changed_since_read)?;
            continue;
        };
        let id = id.to_string();
        let mut aliases = items::get::<Competitor>(call, tx, &id).await?.data.aliases;
        extend(&mut aliases, decided, of_owner)?;
        items::update::<Competitor>(call, tx, &id, |competitor| competitor.aliases = aliases).await?;
    }
    Ok(())
}

fn extend(
    aliases: &mut Vec<String>,
    decided: &[CheckedDecision],
    wanted: impl Fn(&CheckedDecision) -> bool,
) -> Result<()> {
    let mut faults = Vec::new();
    for (at, decided) in decided.iter().enumerate().filter(|(_, decided)| wanted(decided)) {
        if aliases.iter().any(|alias| name_key(alias) == decided.key) {
            continue;
        }
        if aliases.len() >= MAX_ALIASES {
            let why = format!("cannot be added: a brand has at most {MAX_ALIASES} other spellings");
            Check::new(format!("/items/{at}"), &mut faults).fault("name", "too_many_aliases", why);
            continue;
        }
        aliases.push(decided.item.name.clone());
    }
    refuse(faults)
}

async fn refuse_more_ignored(call: &Call, tx: &mut Tx) -> Result<()> {
    let ignored = names::count(tx, call.scope()?, NameStatus::Ignored).await?;
    if ignored <= MAX_IGNORED {
        return Ok(());
    }
    let why = format!("a project has at most {MAX_IGNORED} ignored names");
    Err(Problem::new(Code::TooManyItems, why)
        .hint("open some again that no longer occur: names.list with status ignored")
        .with("limit", MAX_IGNORED)
        .into())
}
