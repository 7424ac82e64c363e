//! `recoup run`: agents in files.

mod tools;
