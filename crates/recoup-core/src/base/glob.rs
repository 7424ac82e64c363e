//! Globs, as anybody may have written them: bounded before they are compiled, because the
//! compiler goes as deep as they are nested, and panics where what it made of them is too much.

use globset::{GlobBuilder, GlobSet};

use super::text::shortened;
use crate::error::{Error, Result};

/// The most of a glob that is taken, in bytes: no path is longer.
const LONGEST: usize = 4_096;
/// How many braces one may open. Nested or not: whether one is closed again only the compiler
/// knows, and more than a few nobody writes.
const BRACES: usize = 64;
/// The most of a glob that an error repeats, in characters.
const SHOWN: usize = 200;

/// What a `/` is in the path that is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slash {
    /// Only a `/` or a `**` matches it.
    Separates,
    /// A `*` crosses it as well.
    IsCrossed,
}

/// The glob, ready to match; an error that names it where it is none, or too much of one.
pub(crate) fn compile(text: &str, slash: Slash) -> Result<GlobSet> {
    let wrong = |why: String| {
        Error::usage(format!("invalid glob {:?}", shortened(text, SHOWN))).with_source(why)
    };
    if let Some(excess) = excess(text) {
        return Err(wrong(excess));
    }
    let separates = slash == Slash::Separates;
    let glob = GlobBuilder::new(text).literal_separator(separates).backslash_escape(true).build();
    // A set of one: a matcher alone would panic over what can't be compiled.
    let set = glob.and_then(|glob| GlobSet::builder().add(glob).build());
    set.map_err(|error| wrong(shortened(&error.kind().to_string(), SHOWN).into_owned()))
}

/// What there is too much of.
fn excess(text: &str) -> Option<String> {
    let braces = text.bytes().filter(|byte| *byte == b'{').count();
    match text.len() {
        long if long > LONGEST => Some(format!("it has {long} bytes, and may have {LONGEST}")),
        _ if braces > BRACES => Some(format!("it opens {braces} braces, and may open {BRACES}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_star_crosses_a_slash_only_where_it_may() {
        for (slash, crosses) in [(Slash::Separates, false), (Slash::IsCrossed, true)] {
            let glob = compile("src/*.{rs,ts}", slash).expect("a glob");
            assert!(glob.is_match("src/a.rs") && !glob.is_match("src/a.py"));
            assert_eq!(glob.is_match("src/deep/a.ts"), crosses);
        }
    }

    #[test]
    fn what_no_compiler_bears_is_an_error_that_names_its_beginning() {
        let deep = |levels: usize| format!("{}{}", "{a,".repeat(levels), "}".repeat(levels));
        for glob in [deep(10_000), deep(300), "{".repeat(80_000), "*a".repeat(100_000)] {
            let error = compile(&glob, Slash::IsCrossed).expect_err("too much");
            let said = error.to_string();
            assert!(said.contains("invalid glob") && said.len() < 600, "{said}");
        }
        for glob in ["[", "{a", "a}", "[z-a]"] {
            let error = compile(glob, Slash::Separates).expect_err(glob).to_string();
            assert!(error.contains(glob), "{error}");
        }
        assert!(compile(&deep(BRACES), Slash::Separates).is_ok());
    }

    proptest! {
        #[test]
        fn whatever_is_given_compiles_or_is_refused(
            text in r"([a\[\]{}*?!,/\\^é-]|\*\*/|\{a,){0,1500}",
        ) {
            if let Ok(glob) = compile(&text, Slash::Separates) {
                glob.is_match("a/b/é");
            }
        }
    }
}
