//! Hints for commands and options that exist elsewhere: in the other program, or in another command of this one.

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Where a command or option that was not understood exists. `own` is the program that was called.
pub(crate) fn hint(error: &clap::Error, own: &Command, other: &Command) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let word = match error.kind() {
        ErrorKind::InvalidSubcommand => text(ContextKind::InvalidSubcommand)?,
        ErrorKind::UnknownArgument => text(ContextKind::InvalidArg)?,
        _ => return None,
    };
    let word = word.split(['=', ' ']).next()?;
    let Some(option) = word.strip_prefix("--") else {
        let found = other.find_subcommand(word)?.get_name();
        let program = other.get_name();
        return Some(format!("hint: `{word}` is a command of {program}; see `{program} {found} --help`"));
    };
    let mut places = Vec::new();
    for program in [own, other] {
        let has_option = |command: &&Command| command.get_arguments().any(|known| known.get_long() == Some(option));
        let found = program.get_subcommands().filter(has_option);
        places.extend(found.map(|command| format!("`{} {}`", program.get_name(), command.get_name())));
    }
    (!places.is_empty()).then(|| format!("hint: `{word}` is an option of {}", places.join(", ")))
}

#[cfg(test)]
mod tests {
    use clap::Arg;

    use super::*;

    #[test]
    fn commands_and_options_of_elsewhere_are_named() {
        let keep = Command::new("prune").arg(Arg::new("keep").long("keep"));
        let own = Command::new("indexer").subcommand(keep).subcommand(Command::new("list"));
        let other = Command::new("venturedex").subcommand(Command::new("serve").arg(Arg::new("listen").long("listen")));
        for (words, expected) in [
            ("indexer serve", Some("`serve` is a command of venturedex; see `venturedex serve --help`")),
            ("indexer list --keep=3", Some("`--keep` is an option of `indexer prune`")),
            ("indexer list --listen 1", Some("`--listen` is an option of `venturedex serve`")),
            ("indexer lst", None),
            ("indexer list --nothing", None),
        ] {
            let error = own.clone().try_get_matches_from(words.split(' ')).unwrap_err();
            let found = hint(&error, &own, &other);
            assert_eq!(found.as_deref().map(|hint| hint.trim_start_matches("hint: ")), expected, "{words}");
        }
    }
}
