//! `recoup completions`: shell scripts that call `recoup complete` for the words that may come
//! next. If it knows none, the shell offers files.

use clap::{Args, ValueEnum};

use crate::cli::{CommandAnswer, CommandResult, ui};

#[derive(Debug, Args)]
pub(in crate::cli) struct CompletionsArgs {
    /// The shell to print completions for
    shell: CompletionShell,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum CompletionShell {
    Bash,
    Zsh,
    Fish,
}

const BASH: &str = r#"_recoup() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("${line%%$'\t'*}")
    done < <(recoup complete -- "${COMP_WORDS[@]:1:COMP_CWORD-1}" "$2" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} -eq 1 && $COMPREPLY == *: ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -o bashdefault -o default -F _recoup recoup
"#;

const ZSH: &str = r#"#compdef recoup
_recoup() {
    local line
    local -a found shown open
    while IFS= read -r line; do
        found+=("${line%%$'\t'*}")
        shown+=("${line/$'\t'/  -- }")
    done < <(recoup complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)
    shown=("${(@)shown%  -- }")
    open=("${(@M)found:#*:}")
    if (( ! $#found )); then
        _files
    else
        (( $#open )) && compadd -S '' -a open
        compadd -l -d shown -a found
    fi
}
if [ "$funcstack[1]" = "_recoup" ]; then
    _recoup "$@"
else
    compdef _recoup recoup
fi
"#;

const FISH: &str = r"function __recoup_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found (recoup complete -- $words[2..] 2>/dev/null)
    if set -q found[1]
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c recoup -f -k -a '(__recoup_complete)'
";

impl CompletionsArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        let script = match self.shell {
            CompletionShell::Bash => BASH,
            CompletionShell::Zsh => ZSH,
            CompletionShell::Fish => FISH,
        };
        ui::data(&[script.as_bytes()])?;
        Ok(CommandAnswer::Yes)
    }
}
