//! Synonyms of the trade: short and long names, two spellings, verbs that no stemmer brings
//! together. Only queries are expanded by them.

/// Returns the synonyms of a form, as the index has them.
pub(super) fn synonyms(form: &str) -> impl Iterator<Item = &'static str> {
    GROUPS.iter().filter(move |group| group.contains(&form)).flat_map(move |group| {
        let others = group.iter().copied().filter(move |other| *other != form);
        others.collect::<Vec<_>>()
    })
}

/// Groups of synonyms, in the forms of the index: `~` marks a stem; short words have none.
const GROUPS: &[&[&str]] = &[
    &["db", "~databas"],
    &["ci", "~pipelin"],
    &["pr", "~pull", "pullrequest"],
    &["~cli", "~command", "commandline"],
    &["~env", "~environ"],
    &["~config", "~configur", "~cfg", "~conf", "~set"],
    &["~repo", "~repositori"],
    &["~doc", "~document"],
    &["~auth", "~authent", "~author", "~login"],
    &["k8s", "~kubernet"],
    &["~prod", "~product", "~prd"],
    &["~stg", "~stage"],
    &["~dev", "~develop"],
    &["~dep", "~depend"],
    &["~lib", "~librari"],
    &["~pkg", "~packag"],
    &["~dir", "~directori", "~folder"],
    &["~param", "~paramet", "~argument", "~arg"],
    &["fn", "~func", "~function"],
    &["~var", "~variabl"],
    &["~msg", "~messag"],
    &["~err", "~error"],
    &["~req", "~request"],
    &["~perf", "~perform", "~speed"],
    &["~async", "~asynchron"],
    &["~sync", "~synchron", "~synchronis"],
    &["~admin", "~administr"],
    &["~app", "~applic"],
    &["~img", "~imag"],
    &["js", "~javascript"],
    &["ts", "~typescript"],
    &["py", "~python"],
    &["~postgr", "~postgresql", "pg"],
    &["~mongo", "~mongodb"],
    &["~gql", "~graphql"],
    &["~mail", "~email"],
    &["tz", "~timezon"],
    &["i18n", "~internation", "~local", "l10n", "~translat"],
    &["a11y", "~access"],
    &["e2e", "endtoend"],
    &["~lint", "~linter"],
    &["~log", "~logger"],
    &["~format", "~formatt"],
    &["~delet", "~remov", "~drop"],
    &["~keep", "~kept", "~retain", "~retent"],
    &["~send", "~sent"],
    &["~build", "~built"],
    &["~run", "~ran"],
    &["~break", "~broke", "~broken"],
    &["~write", "~wrote", "~written"],
    &["~find", "~found"],
    &["~lose", "~lost", "~loss"],
    &["~begin", "~began", "~begun", "~start"],
    &["~choos", "~chose", "~chosen", "~choic"],
    &["~hold", "~held"],
    &["~throw", "~threw", "~thrown"],
    &["~forget", "~forgot", "~forgotten"],
    &["~freez", "~froze", "~frozen"],
    &["~stick", "~stuck"],
    &["~timeout", "~deadlin"],
    &["~expir", "~expiri"],
    &["~forbid", "~forbidden", "~ban", "~prohibit"],
    &["~deploy", "~rollout"],
    &["~fast", "~quick"],
    &["~licens", "~licenc"],
    &["~color", "~colour"],
    &["~behavior", "~behaviour"],
    &["~center", "~centr"],
    &["~catalog", "~catalogu"],
    &["~gray", "~grey"],
    &["~twice", "~duplic"],
    &["~max", "~maximum"],
    &["~min", "~minimum"],
    &["~avg", "~averag"],
    &["~num", "~number"],
    &["id", "~identifi"],
    &["~tmp", "~temp", "~temporari"],
    &["~upgrad", "~updat", "~bump"],
    &["~rollback", "~revert", "~undo"],
    &["~cert", "~certif"],
    &["~spec", "~specif"],
    &["~auto", "~automat"],
    &["~conn", "~connect"],
    &["~src", "~sourc"],
    &["~proto", "~protobuf"],
    &["~docker", "~dockerfil"],
    &["~optim", "~optimis"],
    &["~serial", "~serialis"],
    &["~initi", "~initialis", "~init"],
    &["~password", "~passwd", "~credenti"],
    &["~secret", "~credenti"],
    &["ui", "~interfac"],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_each_other() {
        assert_eq!(synonyms("db").collect::<Vec<_>>(), ["~databas"]);
        assert_eq!(synonyms("~databas").collect::<Vec<_>>(), ["db"]);
        assert_eq!(synonyms("~zebra").count(), 0);
    }

    #[test]
    fn a_mark_stands_before_every_stem() {
        for form in GROUPS.iter().flat_map(|group| group.iter()) {
            let word = form.trim_start_matches('~');
            let has_stem = word.len() > 2 && word.chars().all(char::is_alphabetic);
            assert!(!form.starts_with('~') || has_stem, "{form}");
        }
    }
}
