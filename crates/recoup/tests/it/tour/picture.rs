//! The picture of the tour in the README: what a terminal showed, one scene after the other, as SVG.
//! `cargo xtask picture` writes it anew; the test compares its words with what the tour prints now.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// Set by `cargo xtask picture`.
const WRITE: &str = "RECOUP_WRITE_PICTURE";
const COLUMNS: usize = 80;
const SECONDS_PER_SCENE: usize = 6;
/// In tenths of a pixel.
const COLUMN_WIDTH: usize = 84;
const LINE_HEIGHT: usize = 19;
/// Height of the window's title bar.
const TOP: usize = 40;
/// Space around the text.
const BORDER: usize = 16;

/// Colours of the terminal, by the number in the escape sequence.
const COLOURS: [(&str, &str); 4] =
    [("31", "#ff7b72"), ("32", "#56d364"), ("33", "#e3b341"), ("36", "#76e3ea")];

fn picture_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/images/tour.svg")
}

/// Compares the picture with what the terminal showed, or writes it.
pub(super) fn compare(shown: &str) {
    let drawn = draw(shown);
    let path = picture_path();
    if std::env::var_os(WRITE).is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, drawn).unwrap();
        return;
    }
    let kept = fs::read_to_string(&path).unwrap();
    assert_eq!(words(&kept), words(&drawn), "`cargo xtask picture` draws it anew");
}

/// The words of a picture, without what differs each time: durations, ids and line breaks.
fn words(picture: &str) -> String {
    let text = Regex::new(r"(?s)<text.*?>(.*?)</text>").unwrap();
    let text: Vec<_> = text.captures_iter(picture).map(|found| found[1].to_owned()).collect();
    let mut text = text.join("\n");
    for (pattern, level) in [
        ("<[^>]*>", " "),
        (r"[0-9.]+ ?m?s\b", "TIME"),
        (r"retire\s+[0-9a-z]{8}", "retire ID"),
        (r"[0-9a-z]{8}(\s+correction)", "ID$1"),
        (r"\s+", " "),
    ] {
        text = Regex::new(pattern).unwrap().replace_all(&text, level).into_owned();
    }
    text
}

fn draw(shown: &str) -> String {
    let scenes = scenes(shown);
    let rows = scenes.iter().map(Vec::len).max().unwrap();
    let width = (COLUMNS * COLUMN_WIDTH).div_ceil(10) + 2 * BORDER;
    let height = TOP + rows * LINE_HEIGHT + BORDER;
    let (share, period) = (100 / scenes.len(), scenes.len() * SECONDS_PER_SCENE);
    let mut svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" xml:space="preserve" role="img" aria-label="recoup tour">
<style>
text {{ font: 14px ui-monospace, SFMono-Regular, Menlo, "DejaVu Sans Mono", Consolas, monospace; fill: #e6edf3; white-space: pre }}
.bold {{ font-weight: bold }} .dim {{ fill: #8b949e }}
.scene {{ opacity: 0; animation: shown {period}s step-end infinite }} .scene:first-of-type {{ opacity: 1 }}
@keyframes shown {{ 0% {{ opacity: 1 }} {share}% {{ opacity: 0 }} 100% {{ opacity: 0 }} }}
@media (prefers-reduced-motion: reduce) {{ .scene {{ animation: none }} }}
</style>
<rect width="{width}" height="{height}" rx="10" fill="#0d1117"/>
<circle cx="20" cy="18" r="6" fill="#ff5f56"/><circle cx="40" cy="18" r="6" fill="#ffbd2e"/><circle cx="60" cy="18" r="6" fill="#27c93f"/>
"##
    );
    for (number, scene) in scenes.iter().enumerate() {
        let delay = number * SECONDS_PER_SCENE;
        writeln!(svg, r#"<g class="scene" style="animation-delay:{delay}s">"#).unwrap();
        for (row, line) in scene.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
            let y = TOP + row * LINE_HEIGHT + 14;
            writeln!(svg, r#"<text y="{y}">{}</text>"#, draw_line(line)).unwrap();
        }
        svg.push_str("</g>\n");
    }
    svg + "</svg>\n"
}

/// A character with the parameters of the escape sequences before it.
type StyledChar = (char, Vec<String>);

/// A line's spans of one style, each at its column, so that no font moves them.
fn draw_line(line: &[StyledChar]) -> String {
    let mut spans = String::new();
    let mut column = 0;
    for span in line.chunk_by(|one, next| one.1 == next.1) {
        let text: String = span.iter().map(|(c, _)| *c).collect();
        let left = text.len() - text.trim_start().len();
        let x = BORDER * 10 + (column + left) * COLUMN_WIDTH;
        let x = format!("{}.{}", x / 10, x % 10);
        column += span.len();
        if text.trim().is_empty() {
            continue;
        }
        let text = text.trim().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let styles = &span[0].1;
        let classes = [("1", "bold"), ("2", "dim")];
        let class: Vec<&str> = classes
            .iter()
            .filter(|(code, _)| styles.iter().any(|it| it == code))
            .map(|(_, class)| *class)
            .collect();
        let colour = COLOURS.iter().find(|(code, _)| styles.iter().any(|it| it == code));
        let fill = colour.map_or_else(String::new, |(_, hex)| format!(r#" style="fill:{hex}""#));
        let class = match class.as_slice() {
            [] => String::new(),
            all => format!(r#" class="{}""#, all.join(" ")),
        };
        write!(spans, r#"<tspan x="{x}"{class}{fill}>{text}</tspan>"#).unwrap();
    }
    spans
}

/// The lines of each scene; what stands above the first belongs to it.
fn scenes(shown: &str) -> Vec<Vec<Vec<StyledChar>>> {
    let heading = Regex::new(r"^  \d/\d  ").unwrap();
    let text = |line: &[StyledChar]| line.iter().map(|(c, _)| *c).collect::<String>();
    let lines = read_terminal(shown);
    let starts: Vec<usize> =
        (0..lines.len()).filter(|at| heading.is_match(&text(&lines[*at]))).collect();
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    let scene = |(start, end): (&usize, usize)| {
        let mut scene = lines[*start..end].to_vec();
        while scene.last().is_some_and(|line| text(line).trim().is_empty()) {
            scene.pop();
        }
        scene
    };
    starts.iter().zip(ends).map(scene).collect()
}

/// The lines of the screen. Of the escape sequences only styles are known, and a carriage return
/// begins the line anew.
fn read_terminal(shown: &str) -> Vec<Vec<StyledChar>> {
    let (mut lines, mut line, mut column) = (Vec::new(), Vec::<StyledChar>::new(), 0);
    let mut styles = Vec::new();
    let mut chars = shown.chars();
    while let Some(c) = chars.next() {
        match c {
            '\r' => column = 0,
            '\n' => {
                lines.push(std::mem::take(&mut line));
                column = 0;
            }
            '\u{1b}' => {
                assert_eq!(chars.next(), Some('['), "{shown:?}");
                let codes: String = chars.by_ref().take_while(|c| *c != 'm').collect();
                for code in codes.split(';') {
                    match code {
                        "" | "0" => styles.clear(),
                        code => styles.push(code.to_owned()),
                    }
                }
            }
            c => {
                if column < line.len() {
                    line[column] = (c, styles.clone());
                } else {
                    line.push((c, styles.clone()));
                }
                column += 1;
            }
        }
    }
    lines.push(line);
    lines
}

#[test]
fn words_that_the_tour_no_longer_prints_are_found() {
    let picture = |line: &str| draw(&format!("  1/1  Scene\r\n\u{1b}[2m{line}\u{1b}[0m\r\n"));
    assert_eq!(words(&picture("it ran: 1.0s")), words(&picture("it ran: 990ms")));
    assert_eq!(words(&picture("Enter\rnew  ")), words(&picture("newer\r   er\rnew  ")));
    assert!(words(&picture("a < b & c")).contains("a &lt; b &amp; c"));
    assert_ne!(words(&picture("it ran: 1.0s")), words(&picture("it runs: 1.0s")));
    assert_ne!(words(&picture("use pnpm")), words(&picture("use npm")));
}
