//! A handler per operation of the table, one file per resource.

mod audits;
mod issues;
mod jobs;
mod keywords;
mod me;
mod pages;
mod projects;
