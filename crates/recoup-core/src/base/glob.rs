//! Globs from any author: limited before they are compiled, because the compiler recurses as deep
//! as they nest, and panics on those that get too large.

use globset::{GlobBuilder, GlobSet};

use super::text::shorten_text;
use crate::error::{Error, Result};

/// Longest accepted glob, in bytes: no path is longer.
const LONGEST: usize = 4_096;
/// Most braces that a glob may open, nested or not: only the compiler knows which ones are closed.
const BRACES: usize = 64;
/// Most characters of a glob that an error repeats.
const SHOWN: usize = 200;

/// Treatment of `/` by wildcards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SlashMatching {
    /// Only a `/` or a `**` matches it.
    Separates,
    /// A `*` crosses it as well.
    IsCrossed,
}

/// Compiles a glob; the error names it if it is invalid or too large.
pub(crate) fn compile_glob(text: &str, slash: SlashMatching) -> Result<GlobSet> {
    let wrong = |why: String| {
        Error::usage(format!("invalid glob {:?}", shorten_text(text, SHOWN))).with_source(why)
    };
    if text.len() > LONGEST {
        return Err(wrong(format!("{} bytes, the limit is {LONGEST}", text.len())));
    }
    let braces = text.bytes().filter(|byte| *byte == b'{').count();
    if braces > BRACES {
        return Err(wrong(format!("{braces} opening braces, the limit is {BRACES}")));
    }
    let separates = slash == SlashMatching::Separates;
    let glob = GlobBuilder::new(text).literal_separator(separates).backslash_escape(true).build();
    // A set of one: a lone matcher would panic on a glob that can't be compiled.
    let set = glob.and_then(|glob| GlobSet::builder().add(glob).build());
    set.map_err(|error| wrong(shorten_text(&error.kind().to_string(), SHOWN).into_owned()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_star_crosses_a_slash_only_where_it_may() {
        for (slash, crosses) in
            [(SlashMatching::Separates, false), (SlashMatching::IsCrossed, true)]
        {
            let glob = compile_glob("src/*.{rs,ts}", slash).expect("a glob");
            assert!(glob.is_match("src/a.rs") && !glob.is_match("src/a.py"));
            assert_eq!(glob.is_match("src/deep/a.ts"), crosses);
        }
    }

    #[test]
    fn what_no_compiler_bears_is_an_error_that_names_its_beginning() {
        let deep = |levels: usize| format!("{}{}", "{a,".repeat(levels), "}".repeat(levels));
        for glob in [deep(10_000), deep(300), "{".repeat(80_000), "*a".repeat(100_000)] {
            let error = compile_glob(&glob, SlashMatching::IsCrossed).expect_err("too much");
            let said = error.to_string();
            assert!(said.contains("invalid glob") && said.len() < 600, "{said}");
        }
        for glob in ["[", "{a", "a}", "[z-a]"] {
            let error = compile_glob(glob, SlashMatching::Separates).expect_err(glob).to_string();
            assert!(error.contains(glob), "{error}");
        }
        assert!(compile_glob(&deep(BRACES), SlashMatching::Separates).is_ok());
    }

    proptest! {
        #[test]
        fn whatever_is_given_compiles_or_is_refused(
            text in r"([a\[\]{}*?!,/\\^é-]|\*\*/|\{a,){0,1500}",
        ) {
            if let Ok(glob) = compile_glob(&text, SlashMatching::Separates) {
                glob.is_match("a/b/é");
            }
        }
    }
}
