//! The application as commands open it: warnings and faults are printed.

use std::path::Path;
use std::sync::Arc;

use recoup_core::Result;
use recoup_core::base::FaultLog;
use recoup_core::memory::Memory;

use super::failure::FaultPrinter;
use crate::app;
pub(super) use crate::app::App;
use crate::config::FlagOverrides;

impl App {
    /// Loads the settings, and prints warnings about them.
    pub(super) fn load(overrides: &FlagOverrides) -> Result<&'static Self> {
        Self::load_with(overrides, FaultPrinter)
    }

    /// Like [`Self::load`], with another way to print faults.
    pub(super) fn load_with(
        overrides: &FlagOverrides,
        faults: impl FaultLog + 'static,
    ) -> Result<&'static Self> {
        Self::open(overrides, Arc::new(faults)).inspect(|app| app.print_warnings())
    }

    /// Like [`Self::load`], for commands that protect the user: faulty settings are skipped.
    pub(super) fn load_lenient() -> Result<&'static Self> {
        let app = Self::load_lenient_silently(&FlagOverrides::default());
        app.inspect(|app| app.print_warnings())
    }

    /// Like [`Self::load_lenient`], without printing warnings.
    pub(super) fn load_lenient_silently(overrides: &FlagOverrides) -> Result<&'static Self> {
        Self::open_lenient(overrides, Arc::new(FaultPrinter))
    }

    fn print_warnings(&self) {
        self.report_warnings();
        self.mark_apart_advice_told();
    }
}

/// Memory below our home directory `home`.
pub(super) fn memory_in(home: &Path) -> Memory {
    app::memory_in(home, Arc::new(FaultPrinter))
}
