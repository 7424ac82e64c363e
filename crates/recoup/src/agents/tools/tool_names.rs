//! Names of tools as models know them: `server__tool`, in the characters and the length that all APIs
//! accept.

use std::collections::HashMap;

use recoup_core::base::digest::Sha256Digest;

/// Maximum length of a name.
const MAX_LEN: usize = 64;
/// Digits of the digest that tells names apart.
const DIGEST_DIGITS: usize = 8;

/// The names of tools, each given as server and tool, in their order. Names that would be too long or
/// the same end with a digest of what they stand for.
pub(super) fn exposed_names(tools: &[(String, String)]) -> Vec<String> {
    let simple = |(server, tool): &(String, String)| -> String {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let name = format!("{server}__{tool}");
        name.chars().map(|c| if is_allowed(c) { c } else { '_' }).collect()
    };
    let names: Vec<String> = tools.iter().map(simple).collect();
    let mut counts = HashMap::new();
    for name in &names {
        *counts.entry(name.as_str()).or_insert(0) += 1;
    }
    let finished = |(name, (server, tool)): (&String, &(String, String))| {
        if name.len() <= MAX_LEN && counts[name.as_str()] == 1 {
            return name.clone();
        }
        let digest = Sha256Digest::of(format!("{server}\0{tool}").as_bytes()).to_hex();
        let kept = &name[..name.len().min(MAX_LEN - DIGEST_DIGITS - 1)];
        format!("{kept}_{}", &digest[..DIGEST_DIGITS])
    };
    names.iter().zip(tools).map(finished).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_have_characters_and_lengths_that_every_api_accepts() {
        let (long, other) = ("t".repeat(80), format!("{}x", "t".repeat(79)));
        let tools = [
            ("files", "read_file"),
            ("files", "read.file"),
            ("files", "read/file"),
            ("größe", "get"),
            ("files", long.as_str()),
            ("files", other.as_str()),
        ]
        .map(|(server, tool)| (server.to_owned(), tool.to_owned()));
        let names = exposed_names(&tools);
        assert_eq!(names[0].as_str(), "files__read_file_".to_owned() + &names[0][17..]);
        assert_eq!(names[3], "gr__e__get");
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), tools.len());
        for name in &names {
            assert!(name.len() <= MAX_LEN, "{name}");
            let is_allowed = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
            assert!(name.chars().all(is_allowed), "{name}");
        }
        assert_eq!(exposed_names(&tools[..1]), ["files__read_file"]);
    }
}
