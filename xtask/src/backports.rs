//! apt's sources with the backports of the same release beside them: where a
//! stable release has a program's newer relative.

use std::fs;
use std::io;
use std::path::Path;

/// Writes the system's sources into `folder`, each followed by its backports.
pub(crate) fn write_sources(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let Some(release) = release(&fs::read_to_string("/etc/os-release").unwrap_or_default()) else {
        return Ok(());
    };
    let parts = fs::read_dir("/etc/apt/sources.list.d").into_iter().flatten().flatten();
    for path in parts.map(|part| part.path()).chain(["/etc/apt/sources.list".into()]) {
        let (Ok(text), Some(name)) = (fs::read_to_string(&path), path.file_name()) else {
            continue;
        };
        let deb822 = path.extension().is_some_and(|extension| extension == "sources");
        let extended =
            if deb822 { with_stanzas(&text, &release) } else { with_lines(&text, &release) };
        fs::write(folder.join(name), extended)?;
    }
    Ok(())
}

fn release(os_release: &str) -> Option<String> {
    let line = os_release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="))?;
    Some(line.trim_matches('"').to_owned()).filter(|release| !release.is_empty())
}

/// `Suites: bookworm bookworm-updates`, among other fields.
fn with_stanzas(text: &str, release: &str) -> String {
    let stanzas = text.split("\n\n").filter(|stanza| {
        let suites = stanza.lines().find_map(|line| line.strip_prefix("Suites:"));
        suites.is_some_and(|suites| suites.split_whitespace().any(|suite| suite == release))
    });
    let backports = stanzas.map(|stanza| {
        let lines = stanza.lines().map(|line| match line.strip_prefix("Suites:") {
            Some(_) => format!("Suites: {release}-backports\n"),
            None => format!("{line}\n"),
        });
        format!("\n{}", lines.collect::<String>())
    });
    format!("{}\n{}", text.trim_end(), backports.collect::<String>())
}

/// `deb [options] URI bookworm main`
fn with_lines(text: &str, release: &str) -> String {
    let (from, to) = (format!(" {release} "), format!(" {release}-backports "));
    let lines = text.lines().filter(|line| line.starts_with("deb ") && line.contains(&from));
    let backports = lines.map(|line| format!("{}\n", line.replace(&from, &to)));
    format!("{}\n{}", text.trim_end(), backports.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_backports_of_a_stanza_follow_it() {
        let text = "Types: deb\nURIs: u\nSuites: bookworm bookworm-updates\nComponents: main\n\n\
                    Types: deb\nURIs: v\nSuites: bookworm-security\nComponents: main\n";
        let expected =
            format!("{text}\nTypes: deb\nURIs: u\nSuites: bookworm-backports\nComponents: main\n");
        assert_eq!(with_stanzas(text, "bookworm"), expected);
    }

    #[test]
    fn the_backports_of_a_line_follow_it() {
        let text = "deb [x=y] u bookworm main\ndeb-src u bookworm main\ndeb u other main\n";
        let expected = format!("{text}deb [x=y] u bookworm-backports main\n");
        assert_eq!(with_lines(text, "bookworm"), expected);
    }

    #[test]
    fn the_release_is_what_the_system_calls_itself() {
        assert_eq!(release("ID=debian\nVERSION_CODENAME=bookworm\n").as_deref(), Some("bookworm"));
        assert_eq!(release("ID=other\n"), None);
    }
}
