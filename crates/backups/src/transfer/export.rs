//! Writes a project into a file.

use std::{collections::BTreeMap, io::Write};

use searchwright_contract::Instant;
use searchwright_store::{
    Db,
    transfer::{self, RowSet, imports, tables},
};
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use super::{
    RowReader, TransferError,
    line::{End, FORMAT, Header, KIND, MemberName, ProjectName, RowLine},
    rules::{self, ProjectRule, RULES, Row},
};

/// Outcome of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExportOutcome {
    /// Rows by table.
    pub rows: BTreeMap<String, u64>,
}

/// Writes a project as it is at one moment. Returns an error while work of it is under way.
pub async fn export(
    db: &Db,
    project: Uuid,
    program: &str,
    now: Instant,
    out: &mut (impl Write + Send),
) -> Result<ExportOutcome, TransferError> {
    let mut tx = db.snapshot().await?;
    let scope = transfer::find_project(&mut tx, project)
        .await?
        .ok_or(TransferError::NoProject(project))?;
    if imports::is_unfinished(&mut tx, project).await? {
        return Err(TransferError::Unfinished(project));
    }
    let under_way = transfer::list_under_way(&mut tx, scope).await?;
    if !under_way.is_empty() {
        return Err(TransferError::UnderWay(under_way.join(", ")));
    }
    let members = transfer::list_members(&mut tx, scope).await?;
    let mut rows = BTreeMap::new();
    let mut is_begun = false;
    for table in tables() {
        if matches!(rules::rule(table.name), ProjectRule::LeftOut(_)) {
            continue;
        }
        let mut count = 0;
        let mut reader = RowReader::new(table, RowSet::OfProject(scope));
        loop {
            let mut read = reader.next(&mut tx).await?;
            if read.is_empty() {
                break;
            }
            for values in &mut read {
                let mut row = Row { table, values };
                if !is_begun {
                    let header = header(&row, project, &members, program, now);
                    write_line(out, &header)?;
                    is_begun = true;
                }
                if rules::strip(&mut row) {
                    write_line(out, &RowLine { table, values })?;
                    count += 1;
                }
            }
        }
        if count > 0 {
            rows.insert(table.name.to_owned(), count);
        }
    }
    write_line(out, &json!({ "end": End { rows: rows.clone() } }))?;
    out.flush()?;
    Ok(ExportOutcome { rows })
}

/// The first line, from the row of the project, which comes before all others.
fn header(row: &Row<'_>, project: Uuid, members: &[(String, String)], program: &str, now: Instant) -> Header {
    let left_out = RULES.iter().filter_map(|(name, rule)| match rule {
        ProjectRule::LeftOut(why) => Some(((*name).to_owned(), (*why).to_owned())),
        _ => None,
    });
    Header {
        kind: KIND.to_owned(),
        format: FORMAT,
        program: program.to_owned(),
        schema: transfer::schema_number(),
        exported_at: now,
        project: ProjectName {
            id: project,
            name: row.text("name").to_owned(),
            domain: row.text("domain").to_owned(),
        },
        members: members
            .iter()
            .map(|(name, role)| MemberName {
                name: name.clone(),
                role: role.clone(),
            })
            .collect(),
        left_out: left_out.collect(),
    }
}

fn write_line(out: &mut impl Write, value: &impl Serialize) -> Result<(), TransferError> {
    serde_json::to_writer(&mut *out, value).map_err(std::io::Error::from)?;
    out.write_all(b"\n")?;
    Ok(())
}
