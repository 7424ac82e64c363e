//! `memory.db`: one file that hooks, commands and servers share. What is in it can't be
//! had again, so a damaged one is set aside, and what can still be read is taken over.

use super::migrate::migrate;
use super::salvage::salvage;
use super::schema::{APPLICATION_ID, FIRST, RANK, SECOND, TABLES, VERSION};
use super::search;
use crate::database::Layout;

/// What memory's database is. What is deleted there is overwritten: `forget` means it. Readers
/// keep half a megabyte of pages: a hook reads few of them twice.
pub(super) static LAYOUT: Layout = Layout {
    name: "memory",
    elsewhere: "set RECOUP_HOME to another directory",
    application_id: APPLICATION_ID,
    version: VERSION,
    first: FIRST,
    oldest: VERSION,
    pragmas: "PRAGMA secure_delete = ON; PRAGMA foreign_keys = ON; PRAGMA cache_size = -512;",
    creation_pragmas: "",
    // A server has it open for hours.
    cache: 4 << 10,
    backs_up: true,
    tables: &[TABLES, SECOND, RANK, search::WORDS],
    deferred: "",
    migrate,
    rescue: Some(salvage),
};
