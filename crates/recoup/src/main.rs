//! The doorway: run, and leave with the exit code.

fn main() {
    // Leaving without unwinding: what is open is closed by the kernel, which is
    // faster than closing it ourselves.
    std::process::exit(recoup::cli::run(std::env::args_os()));
}
