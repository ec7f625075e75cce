//! Lists as CSV files (RFC 4180): every row that passes the filters of an address, read from the operation of its page as the file
//! is written.
//!
//! A page of rows is read once the rows before it are on their way: no transaction is open in between, and no more is held in
//! memory, however long the list is and however slowly somebody reads it.

use std::{
    io,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use axum::{
    body::{Body, Bytes},
    extract::Path,
    routing::{MethodRouter, get},
};
use csv::{Terminator, WriterBuilder};
use futures_util::stream;
use http::{Response, header};
use searchwright_contract::{Code, Operation, Problem, columns::Columns, ids::CredentialId, operation};
use searchwright_engine::{Failure, failure::defect};
use serde_json::Value;

use super::visit::{Guest, PageResult, Visit};
use crate::{
    app::App,
    http::{
        answer,
        concurrency::Turn,
        memory::{self, Room},
    },
};

/// Rows that are read at a time.
const ROWS: u8 = 100;
/// Files of one session at a time.
const FILES: usize = 4;
/// Looks for memory, with a pause between them, after which a file ends unfinished.
const LOOKS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(50);
/// Members of records that say what a program may do next, and nothing of the record.
const ACTIONS: &str = "allowedActions";

/// A list as a file.
#[derive(Clone, Copy)]
pub(super) struct CsvFile {
    /// Beginning of its name.
    pub name: &'static str,
    /// Member of the answer that has the rows.
    pub member: &'static str,
}

impl CsvFile {
    /// The records of a list.
    pub const fn of_list(name: &'static str) -> Self {
        Self { name, member: "data" }
    }

    /// Answers with the file for the operation of a page, as the page calls it.
    pub fn route<O: Operation>(self, listing: fn(&Visit) -> O) -> MethodRouter<Arc<App>> {
        get(async move |visit: Visit| {
            let asked = listing(&visit);
            self.of_visit(visit, &asked).await
        })
    }

    /// Answers with the file for the operation of the page of a record.
    pub fn route_of<O: Operation>(self, listing: fn(&Visit, &str) -> O) -> MethodRouter<Arc<App>> {
        get(
            async move |visit: Visit, Path((_, record)): Path<(String, String)>| {
                let asked = listing(&visit, &record);
                self.of_visit(visit, &asked).await
            },
        )
    }

    async fn of_visit<O: Operation>(self, visit: Visit, asked: &O) -> PageResult {
        let (domain, day) = (visit.project.domain.clone(), visit.day(&visit.now()));
        let name = format!("{}-{domain}-{day}", self.name);
        self.answer(visit.into_guest(), &name, asked).await
    }

    /// Answers with the file of this name. What is wrong with the request is said before it begins.
    pub async fn answer<O: Operation>(self, guest: Guest, name: &str, asked: &O) -> PageResult {
        let session = guest.visitor.session.id.uuid().into();
        let Some(place) = guest.app.exports.enter(session, FILES) else {
            let many = format!("{FILES} files are being loaded by this session; wait for one of them");
            return Err(Failure::from(Problem::new(Code::RateLimitExceeded, many)).into());
        };
        let schema = operation::answer_schema::<O>();
        let columns = Columns::of_member(schema.as_value(), self.member)
            .ok_or_else(|| defect("export", "the answer has no such list"))?;
        let mut arguments = serde_json::to_value(asked).map_err(|e| defect("export", e))?;
        if let Some(members) = arguments.as_object_mut() {
            members.remove("cursor");
            members.entry("limit").and_modify(|limit| *limit = ROWS.into());
        }
        let mut export = CsvExport {
            guest,
            operation: O::META.name,
            arguments,
            member: self.member,
            columns: columns.without(ACTIONS),
            has_begun: false,
            is_over: false,
            _place: place,
        };
        let rows = export.read().await?;
        let room = export.guest.app.answers.take(export.guest.sender(), rows.len());
        let room = room.ok_or_else(memory::unread).map_err(Failure::from)?;
        let first = export.piece(rows, room);
        let pieces = stream::unfold((Some(first), Some(export)), |(first, export)| async move {
            if let Some(first) = first {
                return Some((Ok(first), (None, export)));
            }
            let mut export = export.filter(|export| !export.is_over)?;
            // A file that ends with an error is cut off, so that none that lacks rows looks whole.
            match export.next().await {
                Ok(piece) => Some((Ok(piece), (None, Some(export)))),
                Err(why) => {
                    tracing::warn!(operation = export.operation, %why, "a file was cut off");
                    Some((Err(why), (None, None)))
                }
            }
        });
        let mut response = Response::new(Body::from_stream(pieces));
        let headers = response.headers_mut();
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
        let name = name.replace(|c| !plain(c), "-");
        let disposition = format!("attachment; filename=\"{name}.csv\"");
        answer::put(headers, header::CONTENT_TYPE, "text/csv; charset=utf-8");
        answer::put(headers, header::CONTENT_DISPOSITION, &disposition);
        answer::put(headers, header::CACHE_CONTROL, "no-store");
        answer::put(headers, header::X_CONTENT_TYPE_OPTIONS, "nosniff");
        Ok(response)
    }
}

/// Rows on their way, with the memory that they take until they were written.
struct RowsUnderWay {
    rows: Vec<u8>,
    _room: Room,
}

impl AsRef<[u8]> for RowsUnderWay {
    fn as_ref(&self) -> &[u8] {
        &self.rows
    }
}

/// A file that is being written.
struct CsvExport {
    guest: Guest,
    operation: &'static str,
    arguments: Value,
    member: &'static str,
    columns: Columns,
    has_begun: bool,
    is_over: bool,
    _place: Turn<CredentialId>,
}

impl CsvExport {
    /// Reads the next rows; the first are below the names of the columns.
    async fn read(&mut self) -> Result<Vec<u8>, Failure> {
        let listed = self
            .guest
            .read_json(self.operation, self.arguments.clone())
            .await?;
        let cursor = &listed["nextCursor"];
        self.is_over = cursor.is_null();
        if !self.is_over {
            self.arguments["cursor"] = cursor.clone();
        }
        let mut file = WriterBuilder::new()
            .terminator(Terminator::CRLF)
            .from_writer(Vec::new());
        let wrong = |e| defect("export", e);
        if !self.has_begun {
            self.has_begun = true;
            let names = self.columns.iter().map(|column| &column.name);
            file.write_record(names).map_err(wrong)?;
        }
        for record in listed[self.member].as_array().into_iter().flatten() {
            file.write_record(self.columns.cells(record)).map_err(wrong)?;
        }
        file.into_inner().map_err(|e| defect("export", e))
    }

    fn piece(&self, rows: Vec<u8>, room: Room) -> Bytes {
        Bytes::from_owner(RowsUnderWay { rows, _room: room })
    }

    /// The rows behind those that are on their way.
    async fn next(&mut self) -> io::Result<Bytes> {
        if self.guest.app.stopping.load(Ordering::Acquire) {
            return Err(io::Error::other("the server is stopping"));
        }
        if !self.guest.is_signed_in().await {
            return Err(io::Error::other("the person is no longer signed in"));
        }
        let rows = self.read().await.map_err(io::Error::other)?;
        let sender = self.guest.sender();
        for _ in 0..LOOKS {
            if let Some(room) = self.guest.app.answers.take(sender, rows.len()) {
                return Ok(self.piece(rows, room));
            }
            tokio::time::sleep(PAUSE).await;
        }
        Err(io::Error::other("there is no memory for more rows"))
    }
}
