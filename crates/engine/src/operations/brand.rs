//! The brand profile.

use searchwright_contract::{
    Scope,
    actions::AllowedActions,
    brand::{Brand, GetBrand, Profile, UpdateBrand},
    projects::Project,
};
use searchwright_store::{
    Tx,
    access::ProjectScope,
    brand::{self, Resource, StoredProfile},
    projects,
};

use super::items::{changed_since_read, refuse};
use crate::{
    Engine,
    brand::{Check, Own, check_profile, domain_key},
    call::Call,
    endpoint::Handle,
    failure::Result,
    jobs::answer_analysis,
};

/// Returns the default brand profile of a project.
fn unset(project: &Project) -> Profile {
    Profile {
        name: project.name.clone(),
        aliases: Vec::new(),
        domains: Vec::new(),
        category: None,
        tone: None,
        banned_phrases: Vec::new(),
        language: None,
        ambiguous: false,
        negative_context: Vec::new(),
    }
}

/// Loads the facts about the project that its items are checked against.
pub(super) async fn own(call: &Call, tx: &mut Tx) -> Result<Own> {
    let scope = call.scope()?;
    let project = projects::get(tx, scope).await?;
    let stored = brand::find_profile(tx, scope).await?;
    let further = stored.map(|s| s.profile.domains).unwrap_or_default();
    let domains = std::iter::once(&project.domain).chain(&further);
    Ok(Own {
        owners: domains
            .map(|d| searchwright_visibility::domains::owner(d))
            .collect(),
        language: project.language,
    })
}

fn shown(call: &Call, project: &Project, stored: Option<StoredProfile>) -> Brand {
    let allowed_actions = AllowedActions::default().with("update", call.permission(Scope::BrandWrite));
    let (profile, version, updated_at) = match stored {
        Some(s) => (s.profile, s.version, Some(s.updated_at)),
        None => (unset(project), 0, None),
    };
    Brand {
        project_id: project.id,
        profile,
        version,
        updated_at,
        allowed_actions,
    }
}

/// Returns whether two profiles find the same mentions in a text.
fn names_alike(one: &Profile, other: &Profile) -> bool {
    one.name == other.name
        && one.aliases == other.aliases
        && one.domains == other.domains
        && one.category == other.category
        && one.ambiguous == other.ambiguous
        && one.negative_context == other.negative_context
}

/// Returns the brand profile, which is the default one before it is set.
pub(super) async fn profile(tx: &mut Tx, scope: ProjectScope) -> Result<StoredProfile> {
    let project = projects::get(tx, scope).await?;
    let stored = brand::find_profile(tx, scope).await?;
    Ok(stored.unwrap_or_else(|| StoredProfile {
        profile: unset(&project),
        version: 0,
        updated_at: project.updated_at,
    }))
}

impl Handle<GetBrand> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, _: GetBrand) -> Result<Brand> {
        let scope = call.scope()?;
        let project = projects::get(tx, scope).await?;
        let stored = brand::find_profile(tx, scope).await?;
        Ok(shown(call, &project, stored))
    }
}

impl Handle<UpdateBrand> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: UpdateBrand) -> Result<Brand> {
        let scope = call.scope()?;
        projects::lock(tx, scope).await?;
        let project = projects::get(tx, scope).await?;
        let stored = brand::find_profile(tx, scope).await?;
        let mut brand = shown(call, &project, stored);
        call.check_match(brand.project_id, brand.version)?;
        let before = brand.profile.clone();
        operation.apply(&mut brand.profile);
        let mut faults = Vec::new();
        check_profile(&mut brand.profile, &mut Check::new(String::new(), &mut faults));
        if faults.is_empty() {
            let mut check = Check::new(String::new(), &mut faults);
            for (at, domain) in brand.profile.domains.iter().enumerate() {
                let key = domain_key(domain);
                if brand::find_by_key(tx, scope, Resource::Competitors, &key)
                    .await?
                    .is_some()
                {
                    check.fault(
                        &format!("domains/{at}"),
                        "competitor_domain",
                        "is the domain of a competitor",
                    );
                }
            }
        }
        refuse(faults)?;
        if brand.profile == before {
            return Ok(brand);
        }
        let written = brand::set_profile(tx, scope, &brand.profile, brand.version, call.now)
            .await
            .map_err(changed_since_read)?;
        if !names_alike(&before, &brand.profile) {
            answer_analysis::enqueue(call, tx).await?;
        }
        Ok(shown(call, &project, Some(written)))
    }
}
