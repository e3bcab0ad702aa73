//! `tavola completions`: the script that lets a shell complete commands, options, tables and keys.
//!
//! The script of `clap_complete` knows commands and options. Names of tables and keys come from
//! `tavola __complete`, which the script asks when neither a command nor an option is typed.

use std::io;
use std::process::ExitCode;

use clap_complete::Shell;

use crate::cli;
use crate::error::CliError;
use tavola_program::stack::on_large_stack;

const EXAMPLES: &str = "\
Examples:
  tavola completions bash > ~/.local/share/bash-completion/completions/tavola
  tavola completions zsh > \"${fpath[1]}/_tavola\"
  tavola completions fish > ~/.config/fish/completions/tavola.fish

In bash, zsh and fish, names of tables and keys are completed, too: up to 200 keys, as
many as are found within 0.1 seconds.";

/// After the script for bash.
const BASH: &str = r#"
_tavola_names() {
    _tavola "$@"
    local word="${COMP_WORDS[COMP_CWORD]}" found names=()
    [[ "$word" == -* || $COMP_CWORD -lt 2 ]] && return
    while IFS= read -r found; do
        printf -v found '%q' "$found"
        names+=("$found")
    done < <(tavola __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    (( ${#names[@]} )) && COMPREPLY=("${names[@]}")
}
complete -F _tavola_names -o nosort -o bashdefault -o default tavola 2>/dev/null ||
    complete -F _tavola_names -o bashdefault -o default tavola
"#;

/// Before the functions of the script for zsh.
const ZSH: &str = r#"
_tavola_names() {
    local -a found
    found=("${(@f)$(tavola __complete -- "${(@)words[1,CURRENT]}" 2>/dev/null)}")
    (( ${#found} )) && [[ -n "$found[1]" ]] && compadd -a found || _default
}
"#;

/// After the script for fish.
const FISH: &str = r#"
complete -c tavola -f -n 'test (count (commandline -opc)) -gt 1' \
    -a '(tavola __complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
"#;

/// Print the completion script for a shell
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The shell
    shell: Shell,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let shell = args.shell;
    let script = on_large_stack(move || {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut cli::command(), "tavola", &mut script);
        script
    });
    let script = String::from_utf8_lossy(&script);
    io::Write::write_all(
        &mut io::stdout().lock(),
        with_names(shell, &script).as_bytes(),
    )?;
    Ok(ExitCode::SUCCESS)
}

/// Adds names of tables and keys to a script.
fn with_names(shell: Shell, script: &str) -> String {
    match shell {
        Shell::Bash => format!("{script}{BASH}"),
        Shell::Fish => format!("{script}{FISH}"),
        Shell::Zsh => {
            // A line such as `':name -- The table: a name, or a path:_default' \`.
            let is_name = |line: &str| {
                let line = line.trim_start();
                [
                    "':name",
                    "':key",
                    "'*::keys",
                    "'::table",
                    "'::pattern",
                    "':table",
                    "'*::tables",
                ]
                .iter()
                .any(|start| line.starts_with(start))
            };
            let lines = script
                .split_inclusive('\n')
                .map(|line| match is_name(line) {
                    true => line.replace(":_default'", ":_tavola_names'"),
                    false => line.to_string(),
                });
            let script: String = lines.collect();
            match script.split_once("\n\n") {
                Some((head, rest)) => format!("{head}\n{ZSH}\n{rest}"),
                None => script,
            }
        }
        _ => script.to_string(),
    }
}
