//! Paths of Claude Code's own memory of a project, and whether it reads them.

use std::path::{Path, PathBuf};

use recoup_core::base::fsx;
use serde_json::Value;

use super::LARGEST_FILE;

/// The longest name that is used unchanged.
const MAX_SLUG_LENGTH: usize = 200;

/// The memory directory of the project whose main worktree is `root`.
pub(super) fn memory_dir(claude: &Path, root: &Path) -> PathBuf {
    claude.join("projects").join(slug(&root.to_string_lossy())).join("memory")
}

/// The user's skills directory. It may be a link that the user made; no other link is followed.
pub(super) fn skills_dir(claude: &Path) -> PathBuf {
    let dir = claude.join("skills");
    let linked = dir.is_symlink().then(|| dir.canonicalize().ok()).flatten();
    linked.unwrap_or(dir)
}

/// A project's directory name as the client builds it, in UTF-16 units as JavaScript does: other
/// characters than letters and digits become dashes, and a long name ends with a hash.
pub(super) fn slug(path: &str) -> String {
    let plain = |unit: u16| {
        let c = u8::try_from(unit).ok().map(char::from);
        c.filter(char::is_ascii_alphanumeric).unwrap_or('-')
    };
    let name: String = path.encode_utf16().map(plain).collect();
    if name.len() <= MAX_SLUG_LENGTH {
        return name;
    }
    let hash = path
        .encode_utf16()
        .fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)));
    format!("{}-{}", &name[..MAX_SLUG_LENGTH], base36(hash.unsigned_abs()))
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit(number % 36, 36));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

/// The client's directory that contains a memory directory, whatever the environment says now.
pub(super) fn claude_dir_of(memory: &Path) -> &Path {
    memory.ancestors().nth(3).unwrap_or(memory)
}

/// Returns why the client would not read rules there, or would show them to other projects.
pub(super) fn reason_not_synced(claude: &Path, root: &Path) -> Option<String> {
    if !claude.is_dir() {
        return Some(format!(
            "no rules are synced: Claude Code's directory {} does not exist",
            claude.display()
        ));
    }
    let own = root.join(".claude");
    // The first file that has the key counts.
    let files =
        [own.join("settings.local.json"), own.join("settings.json"), claude.join("settings.json")];
    let read =
        |path: &Path| serde_json::from_slice(&fsx::read_regular(path, LARGEST_FILE).ok()??).ok();
    let all: Vec<(PathBuf, Value)> =
        files.into_iter().filter_map(|file| read(&file).map(|it| (file, it))).collect();
    let said = |key: &str| all.iter().find_map(|(file, it)| Some((file, it.get(key)?)));
    let told = |file: &Path, why| Some(format!("{} {why}: no rules are synced", file.display()));
    match (said("autoMemoryDirectory"), said("autoMemoryEnabled")) {
        (Some((file, Value::String(_))), _) => told(
            file,
            "stores the memory of all projects in one directory (autoMemoryDirectory), where other \
             projects would read this one's rules",
        ),
        (_, Some((file, Value::Bool(false)))) => {
            told(file, "disables Claude Code's own memory (autoMemoryEnabled)")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compared with the real client in `tests/it/claude_code/mirror.rs`.
    #[test]
    fn a_project_has_the_name_that_the_client_gives_it() {
        assert_eq!(slug("/home/me/my_project.x"), "-home-me-my-project-x");
        assert_eq!(slug("/tmp/é😀"), "-tmp----");
    }

    #[test]
    fn a_long_one_is_told_from_others_like_it() {
        let long = |end: &str| format!("/{}{end}", "x".repeat(220));
        let (one, other) = (slug(&long("a")), slug(&long("b")));
        assert_eq!(&one[..201], &other[..201]);
        assert_ne!(one, other);
        assert_eq!(base36(0), "0");
        assert_eq!(base36(1_295), "zz");
    }
}
