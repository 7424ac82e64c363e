//! Paths in token streams, which no parser understands for us: the arguments
//! of macros and attributes, and the bodies of `macro_rules!`.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::{LitStr, UseTree};

use super::imports::Reader;

/// Adds every path in `stream` to `reader`; with `in_strings`, those that are
/// written as string literals too.
pub(super) fn scan(reader: &mut Reader, stream: TokenStream, in_strings: bool) {
    let tokens: Vec<_> = stream.into_iter().collect();
    let mut rest = &*tokens;
    while let [token, following @ ..] = rest {
        rest = following;
        match token {
            TokenTree::Ident(_) => rest = path(reader, token, following),
            TokenTree::Group(group) => scan(reader, group.stream(), in_strings),
            TokenTree::Literal(_) if in_strings => string(reader, token),
            TokenTree::Literal(_) | TokenTree::Punct(_) => {}
        }
    }
}

/// Reads the path that begins with `first`, and returns the tokens after it.
fn path<'a>(reader: &mut Reader, first: &TokenTree, following: &'a [TokenTree]) -> &'a [TokenTree] {
    let line = first.span().start().line;
    let mut names = vec![first.to_string()];
    let mut rest = following;
    while let Some(after) = after_colons(rest) {
        match after {
            [TokenTree::Ident(name), after @ ..] => {
                names.push(name.to_string());
                rest = after;
            }
            [TokenTree::Punct(star), after @ ..] if star.as_char() == '*' => {
                reader.add_glob(line, &names);
                return after;
            }
            [group, after @ ..] if is_braced(group) => {
                // `use` in a macro's body: what hangs on the path is a tree.
                if let Ok(tree) = syn::parse2::<UseTree>(group.clone().into()) {
                    reader.add_use(&tree, &names);
                }
                return after;
            }
            _ => break,
        }
    }
    reader.add_path(line, names);
    rest
}

fn after_colons(tokens: &[TokenTree]) -> Option<&[TokenTree]> {
    match tokens {
        [TokenTree::Punct(one), TokenTree::Punct(two), rest @ ..]
            if one.as_char() == ':' && two.as_char() == ':' =>
        {
            Some(rest)
        }
        _ => None,
    }
}

fn is_braced(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

fn string(reader: &mut Reader, literal: &TokenTree) {
    let path = syn::parse2::<LitStr>(literal.clone().into()).and_then(|text| text.parse());
    let Ok::<syn::Path, _>(path) = path else { return };
    let names = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    reader.add_path(literal.span().start().line, names);
}
