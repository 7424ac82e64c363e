//! `memory.db`: one file that hooks, commands and servers share. Its content cannot be regenerated,
//! so a damaged file is set aside, and its readable rows are taken over.

use super::migrate::migrate;
use super::salvage::salvage;
use super::schema::{APPLICATION_ID, FIRST, RANK, SECOND, TABLES, VERSION};
use super::search;
use crate::database::DatabaseLayout;

/// Layout of memory's database. Deleted data is overwritten, so that `forget` means it. Readers
/// cache half a megabyte of pages: a hook reads few of them twice.
pub(super) static LAYOUT: DatabaseLayout = DatabaseLayout {
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
