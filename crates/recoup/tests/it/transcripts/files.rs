//! Transcripts in files: the last entries, what is new, and what is not read.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use recoup::transcripts::excerpt::{TranscriptExcerpt, TranscriptFile, TranscriptMark};
use recoup::transcripts::reverse_lines::{MAX_BUFFER_BYTES, ReverseLines};
use recoup_core::base::fsx::{self, FileLookup};
use recoup_core::memory::HookClient;
use recoup_core::memory::capture::transcript::{EntryKind, TranscriptEntry};
use tempfile::TempDir;

struct Scene {
    dir: TempDir,
}

impl Scene {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("session.jsonl")
    }

    fn append(&self, text: &str) {
        let mut file = File::options().append(true).create(true).open(self.path()).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn open(&self) -> TranscriptFile {
        open(&self.path()).unwrap()
    }

    fn since(&self, mark: &TranscriptMark) -> TranscriptExcerpt {
        self.open().entries_since(mark, 1_000).unwrap()
    }
}

fn open(path: &Path) -> Option<TranscriptFile> {
    TranscriptFile::open(path, HookClient::ClaudeCode).unwrap()
}

fn prompt(text: &str) -> String {
    format!("{{\"type\":\"user\",\"message\":{{\"content\":\"{text}\"}}}}\n")
}

fn texts(entries: &[TranscriptEntry]) -> Vec<String> {
    let text = |entry: &'_ TranscriptEntry| match &entry.what {
        EntryKind::Prompt(text) => text.as_str().to_owned(),
        other => panic!("{other:?}"),
    };
    entries.iter().map(text).collect()
}

#[test]
fn the_last_entries_in_their_order() {
    let scene = Scene::new();
    (0..100).for_each(|number| scene.append(&prompt(&number.to_string())));
    let last = scene.open().last(3).unwrap();
    assert_eq!(texts(&last.entries), ["97", "98", "99"]);
    assert!(!last.complete);
    let all = scene.open().last(100).unwrap();
    assert_eq!((all.entries.len(), all.complete), (100, true));
    assert_eq!(all.mark, last.mark);
}

#[test]
fn a_transcript_that_is_not_there_yet_is_none() {
    assert!(open(&Scene::new().path()).is_none());
    let scene = Scene::new();
    scene.append("");
    let empty = scene.open().last(50).unwrap();
    assert_eq!((empty.entries.len(), empty.complete), (0, true));
}

#[test]
fn only_what_is_new_is_read_again() {
    let scene = Scene::new();
    scene.append(&(prompt("a") + &prompt("b")));
    let first = scene.open().last(50).unwrap();
    let nothing = scene.since(&first.mark);
    assert_eq!((nothing.entries.len(), nothing.anew, nothing.complete), (0, false, true));
    scene.append(&prompt("c"));
    let news = scene.since(&first.mark);
    assert_eq!(texts(&news.entries), ["c"]);
    assert_eq!(texts(&scene.since(&first.mark).entries), ["c"], "asking changes nothing");
    assert!(scene.since(&news.mark).entries.is_empty());
}

#[test]
fn a_line_that_is_being_written_is_left_for_the_next_time() {
    let scene = Scene::new();
    let line = prompt("late");
    let (half, rest) = line.split_at(30);
    scene.append(&(prompt("a") + half));
    let first = scene.open().last(50).unwrap();
    assert_eq!(texts(&first.entries), ["a"]);
    scene.append(rest);
    assert_eq!(texts(&scene.since(&first.mark).entries), ["late"]);
}

#[test]
fn a_file_that_was_cut_replaced_or_written_anew_is_read_as_a_new_one() {
    let scene = Scene::new();
    scene.append(&(prompt("a") + &prompt("b")));
    let mark = scene.open().last(50).unwrap().mark;

    let file = File::options().write(true).open(scene.path()).unwrap();
    file.set_len(prompt("a").len() as u64).unwrap();
    let cut = scene.since(&mark);
    assert_eq!((texts(&cut.entries).join(" "), cut.anew), ("a".to_owned(), true));

    fs::write(scene.path(), prompt("x") + &prompt("y") + &prompt("z")).unwrap();
    let anew = scene.since(&mark);
    assert_eq!(
        (texts(&anew.entries).join(" "), anew.anew),
        ("x y z".to_owned(), true),
        "the same inode"
    );

    let other = scene.dir.path().join("other");
    fs::write(&other, prompt("a") + &prompt("b") + &prompt("c")).unwrap();
    fs::rename(other, scene.path()).unwrap();
    let replaced = scene.since(&mark);
    assert_eq!((texts(&replaced.entries).join(" "), replaced.anew), ("a b c".to_owned(), true));
}

#[test]
fn a_mark_can_be_stored() {
    let scene = Scene::new();
    scene.append(&prompt("a"));
    let mark = scene.open().last(50).unwrap().mark;
    let stored = mark.to_string();
    assert_eq!(stored.parse::<TranscriptMark>().unwrap(), mark);
    assert_eq!(mark.offset(), prompt("a").len() as u64);
    for wrong in ["", "1:2:3", "1:2:3:4:5", "x:2:3:4", "1:2:-3:4"] {
        assert!(wrong.parse::<TranscriptMark>().is_err(), "{wrong}");
    }
}

#[test]
fn broken_lines_are_passed_over() {
    let scene = Scene::new();
    scene.append(&prompt("a"));
    scene.append("{\"type\":\"user\",\"mess\n\n\u{0}\u{0}\nnot json\n[]\n");
    scene.append(&prompt("b"));
    assert_eq!(texts(&scene.open().last(50).unwrap().entries), ["a", "b"]);
}

#[test]
fn links_pipes_devices_and_directories_are_refused() {
    let scene = Scene::new();
    let link = scene.dir.path().join("link.jsonl");
    scene.append(&prompt("a"));
    symlink(scene.path(), &link).unwrap();
    let pipe = scene.dir.path().join("pipe.jsonl");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [&link, &pipe, Path::new("/dev/zero"), scene.dir.path()] {
        let refused = TranscriptFile::open(path, HookClient::ClaudeCode).unwrap_err().to_string();
        assert!(refused.contains("not a regular file"), "{refused}");
    }
}

/// Goes through the whole file, and looks at the memory that it takes all the time.
fn bounded(path: &Path) {
    let FileLookup::Regular(file) = fsx::open_regular(path).unwrap() else { panic!("no file") };
    let mut lines = ReverseLines::between(&file, 0, file.size(), u64::MAX);
    let mut count = 0;
    while lines.next_line().unwrap().is_some() {
        count += 1;
        assert!(lines.buffered() <= MAX_BUFFER_BYTES, "{}", lines.buffered());
    }
    assert!(lines.reached_floor() && lines.buffered() <= MAX_BUFFER_BYTES);
    assert_eq!(count, 14, "the long lines are passed over");
}

#[test]
fn fifty_megabytes_are_read_from_the_end() {
    let scene = Scene::new();
    let mut file = BufWriter::new(File::create(scene.path()).unwrap());
    let mut written = 0;
    let request =
        format!("{{\"type\":\"api-request-body\",\"body\":\"{}\"}}\n", "prompt ".repeat(1 << 20));
    for number in 0.. {
        let line = if number % 3 == 0 { &request } else { &prompt(&number.to_string()) };
        file.write_all(line.as_bytes()).unwrap();
        written += line.len();
        if written > 50 << 20 {
            break;
        }
    }
    file.into_inner().unwrap();
    bounded(&scene.path());
    let last = scene.open().last(4).unwrap();
    assert_eq!(last.entries.len(), 4);
    assert!(last.mark.offset() > 50 << 20);
    let everything = scene.open().last(1_000).unwrap();
    assert_eq!(everything.entries.len(), 14, "the requests between them say nothing");
}
