#![allow(warnings)]
#[path = "../tests/corpus/prompts/mod.rs"]
mod prompts;
use recoup_core::memory::NoteScope;
use recoup_core::memory::capture::read_prompt;
use recoup_core::memory::guard::private_text::PublicText;
fn words(text: &str) -> Vec<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|it| !it.is_empty())
        .map(str::to_owned)
        .collect()
}
fn main() {
    for p in prompts::load("working") {
        let r = read_prompt(&PublicText::new(&p.text), &NoteScope::Universal);
        for m in p.marks.iter().filter(|m| m.kind != 4) {
            let want = &p.text[m.span.clone()];
            let w = words(want);
            let best =
                r.sure().max_by_key(|s| words(&s.text).iter().filter(|x| w.contains(x)).count());
            if let Some(b) = best {
                let s = words(&b.text);
                if s.iter().filter(|x| w.contains(x)).count() * 3 <= w.len() {
                    continue;
                }
                if s != w {
                    println!("WANT {}\nGOT  {}\n  {}\n", want, b.text, p.text.replace('\n', " / "));
                }
            }
        }
    }
}
