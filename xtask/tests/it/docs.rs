//! The documentation, held against the tree: links lead somewhere, every page is in the table of
//! contents, and the files that ARCHITECTURE.md names exist.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::files;

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    assert_eq!(broken_links(&files::workspace()), Vec::<String>::new());
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    assert_eq!(unlisted_pages(&files::workspace()), Vec::<PathBuf>::new());
}

#[test]
fn every_file_of_the_data_flows_exists() {
    let root = files::workspace();
    let architecture = files::read(&root.join("ARCHITECTURE.md"));
    let named = files_of_data_flows(&architecture);
    assert!(named.len() >= 20, "the data flows name too few files: {named:#?}");
    let missing: Vec<_> = named.iter().filter(|file| !root.join(file).is_file()).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names files that are not there: {missing:#?}");
}

/// The links of all pages that lead to no file or no heading.
fn broken_links(root: &Path) -> Vec<String> {
    let mut pages =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| root.join(name)).to_vec();
    pages.extend(pages_below(&root.join("docs/src")));
    let mut broken = Vec::new();
    for page in pages {
        for link in links(&files::read(&page)) {
            if let Some(problem) = link_problem(&page, &link) {
                broken.push(format!("{}: {link}: {problem}", files::label(root, &page)));
            }
        }
    }
    broken
}

fn link_problem(page: &Path, link: &str) -> Option<&'static str> {
    if link.contains("://") {
        return None;
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = match file {
        "" => page.to_owned(),
        file => page.parent().expect("a page lies in a folder").join(file),
    };
    if !target.exists() {
        return Some("there is no such file");
    }
    let has_heading = anchor.is_empty() || anchors(&files::read(&target)).contains(anchor);
    (!has_heading).then_some("there is no such heading")
}

/// The pages of the book that SUMMARY.md does not link to.
fn unlisted_pages(root: &Path) -> Vec<PathBuf> {
    let folder = root.join("docs/src");
    let summary = folder.join("SUMMARY.md");
    let listed: BTreeSet<_> =
        links(&files::read(&summary)).iter().map(|it| folder.join(it)).collect();
    let is_unlisted = |page: &PathBuf| *page != summary && !listed.contains(page);
    pages_below(&folder).into_iter().filter(is_unlisted).collect()
}

fn pages_below(folder: &Path) -> Vec<PathBuf> {
    let mut pages = Vec::new();
    for path in files::entries(folder) {
        if path.is_dir() {
            pages.extend(pages_below(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    pages
}

/// The source files that stand as code under `## Data flows`.
fn files_of_data_flows(architecture: &str) -> BTreeSet<&str> {
    let Some((_, rest)) = architecture.split_once("\n## Data flows\n") else {
        return BTreeSet::new();
    };
    let flows = rest.split("\n## ").next().unwrap_or_default();
    let is_source = |code: &&str| {
        code.starts_with("crates/") && Path::new(code).extension().is_some_and(|it| it == "rs")
    };
    flows.split('`').skip(1).step_by(2).filter(is_source).collect()
}

/// The targets of inline links, in order.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in prose(text) {
        let line = without_code(line);
        let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        found.extend(targets.map(str::to_owned));
    }
    found
}

/// The anchors of all headings, as GitHub and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).into_iter().filter(|line| line.starts_with('#'));
    headings.map(|heading| anchor(heading.trim_start_matches('#').trim())).collect()
}

fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase().replace(' ', "-");
    kept.chars().filter(|letter| letter.is_alphanumeric() || "-_".contains(*letter)).collect()
}

/// The lines outside of fenced code.
fn prose(text: &str) -> Vec<&str> {
    let mut is_code = false;
    text.lines()
        .filter(|line| {
            let is_fence = line.trim_start().starts_with("```");
            is_code ^= is_fence;
            !is_code && !is_fence
        })
        .collect()
}

/// A line without its code spans.
fn without_code(line: &str) -> String {
    let (mut kept, mut rest) = (String::new(), line);
    while let Some(start) = rest.find('`') {
        let fence =
            &rest[start..start + rest[start..].bytes().take_while(|it| *it == b'`').count()];
        kept.push_str(&rest[..start]);
        rest = &rest[start + fence.len()..];
        if let Some(end) = rest.find(fence) {
            rest = &rest[end + fence.len()..];
        }
    }
    kept + rest
}

#[test]
fn links_and_pages_that_lead_nowhere_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    let put = |name: &str, text: &str| files::write(&root.join(name), text);
    put(
        "README.md",
        "# Us\n[a](docs/src/a.md#the-a-page) [`b`](docs/src/b.md) [us](#us) [](https://a.b)\n",
    );
    put("ARCHITECTURE.md", "`[code](nowhere.md)`\n```\n[block](nowhere.md)\n```\n[x](#y)\n");
    put("CONTRIBUTING.md", "[a](docs/src/a.md#b)\n");
    put("docs/src/SUMMARY.md", "- [A](a.md)\n");
    put("docs/src/a.md", "# The `a`: page\n[up](../../README.md#us)\n");
    put("docs/src/deep/c.md", "[a](a.md)\n");
    assert_eq!(
        broken_links(root),
        [
            "README.md: docs/src/b.md: there is no such file",
            "ARCHITECTURE.md: #y: there is no such heading",
            "CONTRIBUTING.md: docs/src/a.md#b: there is no such heading",
            "docs/src/deep/c.md: a.md: there is no such file",
        ]
    );
    assert_eq!(unlisted_pages(root), [root.join("docs/src/deep/c.md")]);
    let flows = "# A\n`crates/no.rs`\n## Data flows\n`crates/a.rs`, `b.rs`\n### A hit\n`crates/c.rs`\n## More\n`crates/d.rs`\n";
    assert_eq!(
        files_of_data_flows(flows).into_iter().collect::<Vec<_>>(),
        ["crates/a.rs", "crates/c.rs"]
    );
}
