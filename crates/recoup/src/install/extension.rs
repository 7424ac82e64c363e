//! Pi's extension: one file of ours, with the program's path inserted.

use recoup_core::memory::hooked;

/// Source of the extension, which finds the program on the PATH.
const SOURCE: &str = include_str!("../../assets/pi/recoup.ts");

/// Returns the extension with this program: its path, or the bare name in a shared file.
pub(crate) fn with_program(program: &str) -> String {
    let literal = serde_json::to_string(program).expect("a text always serializes");
    let place = hooked::extension_program(SOURCE).expect("ours says where the program is");
    [&SOURCE[..place.start], &literal, &SOURCE[place.end..]].concat()
}

/// Returns the program that an extension starts; none if the extension is not ours.
pub(crate) fn program_in(text: &str) -> Option<String> {
    serde_json::from_str(&text[hooked::extension_program(text)?]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_put_in_and_found_again() {
        for path in ["recoup", "/usr/local/bin/recoup", "/a \"b\"; c/recoup", "/ü\\x/recoup"] {
            let text = with_program(path);
            assert_eq!(program_in(&text).as_deref(), Some(path));
            assert_eq!(text.lines().count(), SOURCE.lines().count());
        }
        assert_eq!(program_in(SOURCE).as_deref(), Some("recoup"));
        assert_eq!(program_in("export default 1;"), None);
        let line = "const PROGRAM = process.env.RECOUP_BIN ?? \"recoup\";\n";
        assert_eq!(program_in(line), None, "it calls nobody");
    }
}
