//! Kinds of files: their endings, and the names of their languages.

use crate::memory::lang::is_one_of;

/// Endings of files, each with the names of its language.
pub(crate) const KINDS: &str = "go golang|py python 파이썬|rs rust|ts typescript|js javascript|tsx|jsx|cs csharp|c|\
    cpp|java|kt kotlin|swift|rb ruby|pl perl|scala|php|R r|ex elixir|dart|vue|\
    svelte|sql|yaml|yml|toml|md markdown|css|scss|html|sh shell bash|tf terraform|\
    proto protobuf|graphql";
/// Endings of single files that have data; kinds of them are what programs read, no limits.
pub(crate) const DATA_ENDINGS: &str = "json xml lock txt";

/// Endings that belong together.
const SAME_KIND: [&str; 5] = ["ts tsx mts cts", "js jsx mjs cjs", "yaml yml", "py pyi", "md mdx"];

/// Returns the ending of a kind of files by one of its names.
pub(crate) fn ending_of_kind(name: &str) -> Option<&'static str> {
    KINDS.split('|').find(|it| is_one_of(name, it))?.split(' ').next()
}

/// Returns all endings of a kind of files by one of its names.
pub(crate) fn endings_of(name: &str) -> Option<&'static str> {
    let ending = ending_of_kind(name).filter(|_| name.len() > 1)?;
    let same = SAME_KIND.iter().find(|it| it.split(' ').next() == Some(ending));
    Some(same.copied().unwrap_or(ending))
}

/// True for an ending that only files have.
pub(crate) fn is_file_ending(ending: &str) -> bool {
    const MORE: &str = "mjs cjs mts cts pyi ini cfg conf env jsonc mdx less h hpp gradle csv ipynb lua prisma svg png";
    let is_kind = KINDS.split('|').any(|it| it.split(' ').next() == Some(ending));
    (is_kind && ending.len() > 1) || is_one_of(ending, DATA_ENDINGS) || is_one_of(ending, MORE)
}
