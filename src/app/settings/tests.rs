use crate::app::settings::*;

fn read(words: &[&str]) -> Result<Cli, Stop> {
    Cli::read(["venturedex"].iter().chain(words).map(OsString::from))
}

fn settings(words: &[&str]) -> ServeSettings {
    match read(words) {
        Ok(Cli { command: Command::Serve(settings), .. }) => *settings,
        other => panic!("{words:?}: {other:?}"),
    }
}

fn refusal(words: &[&str]) -> String {
    let stop = read(words).unwrap_err();
    assert_eq!(stop.code, 2, "{words:?}");
    stop.to_string()
}

#[test]
fn the_command_line_is_well_defined() {
    command().debug_assert();
}

#[test]
fn without_a_command_the_server_starts_with_the_documented_defaults() {
    let settings = settings(&[]);
    assert_eq!(settings.listen, "127.0.0.1:8080".parse().unwrap());
    assert_eq!((settings.index, settings.data), (None, PathBuf::from("data")));
    assert_eq!((settings.public_url, settings.allowed_origins), (None, None));
    assert_eq!((settings.mcp_daily_limit, settings.trusted_proxies.len(), settings.mcp_pools.len()), (100, 0, 0));
    assert_eq!((settings.keep_releases, settings.poll_interval), (3, 1_000));
}

#[test]
fn settings_are_parsed_with_and_without_the_command_serve() {
    let flags = ["--listen", "0.0.0.0:9000", "--index=i", "--data", "d", "--trusted-proxies", "10.0.0.0/8,::1"];
    for words in [flags.to_vec(), [&["serve"], flags.as_slice()].concat()] {
        let settings = settings(&words);
        assert_eq!(settings.listen, "0.0.0.0:9000".parse().unwrap());
        assert_eq!((settings.index, settings.data), (Some(PathBuf::from("i")), PathBuf::from("d")));
        assert_eq!(settings.trusted_proxies.len(), 2);
    }
    assert_eq!(settings(&["--data", "account", "--index", "key"]).data, PathBuf::from("account"));
    assert_eq!(settings(&["--data=d"]).data, PathBuf::from("d"));
}

#[test]
fn a_public_https_address_without_a_named_proxy_is_noticed() {
    let warns = |words: &[&str], bound: &str| settings(words).is_unaware_of_proxies(bound.parse().unwrap());
    let public = ["--public-url", "https://api.example.com"];
    assert!(warns(&public, "127.0.0.1:8080"));
    assert!(!warns(&public, "192.0.2.1:443"));
    assert!(!warns(&["--public-url", "http://api.example.com"], "127.0.0.1:8080"));
    assert!(!warns(&[&public[..], &["--trusted-proxies", "127.0.0.1"]].concat(), "127.0.0.1:8080"));
}

#[test]
fn the_data_folder_may_be_named_before_or_after_a_command() {
    for words in [
        ["--data", "d", "account", "list", "--json"],
        ["account", "--data", "d", "list", "--json"],
        ["account", "list", "--json", "--data", "d"],
        ["account", "--json", "list", "--data", "d"],
    ] {
        let cli = read(&words).unwrap();
        assert_eq!(cli.data, PathBuf::from("d"), "{words:?}");
        assert!(
            matches!(
                cli.command,
                Command::Account { options: CommandOptions { json: true, .. }, command: AccountCommand::List }
            ),
            "{words:?}"
        );
    }
}

#[test]
fn an_error_names_the_setting_and_an_accepted_value() {
    for (words, setting, accepted) in [
        (["--listen", "8080"], "error: --listen: `8080`: ", "127.0.0.1:8080"),
        (["--listen", "example.com:80"], "--listen", "127.0.0.1:8080"),
        (["--public-url", "example.com"], "--public-url: `example.com`", "https://api.example.com"),
        (["--public-url", "ftp://example.com"], "--public-url", "https://api.example.com"),
        (["--public-url", "https://a@example.com"], "--public-url", "https://api.example.com"),
        (["--public-url", "https://example.com/?a=b"], "--public-url", "https://api.example.com"),
        (["--allowed-origins", "https://a.example,b.example"], "--allowed-origins: `b.example`", "https://host"),
        (["--mcp-pools", "a=5@10.0.0.1/8"], "--mcp-pools: `a=5@10.0.0.1/8`", "did you mean 10.0.0.0/8?"),
        (["--mcp-pools", "10.0.0.0/8"], "--mcp-pools: `10.0.0.0/8`", "use NAME=CALLS@RANGE+RANGE"),
        (["--trusted-proxies", "0.0.0.0/0"], "--trusted-proxies: `0.0.0.0/0`", "name the proxies' addresses"),
        (["--trusted-proxies", "128.0.0.0/1"], "--trusted-proxies", "name the proxies' addresses"),
        (["--trusted-proxies", "2000::/3"], "--trusted-proxies", "name the proxies' addresses"),
        (["--trusted-proxies", "10.0.0.1/8"], "--trusted-proxies: `10.0.0.1/8`", "did you mean 10.0.0.0/8?"),
        (["--mcp-daily-limit", "many"], "--mcp-daily-limit: `many`", "a whole number from 0"),
        (["--pages-per-minute", "-1"], "--pages-per-minute: `-1`", "a whole number from 0"),
        (["--sign-ups-per-hour", "-5"], "--sign-ups-per-hour: `-5`", "a whole number from 0"),
        (["--tiers", "fre=keys:1"], "--tiers: `fre=keys:1`", "did you mean `free`?"),
        (["--tiers", "free=requests:60;anonymous=requests:30"], "--tiers: anonymous: 30 requests", "at most 29"),
        (["--access", "private"], "--access", "open, key, accounts"),
        (["--sign-up", "closed"], "--sign-up", "open, invite, off"),
        (["--max-connections", "0"], "--max-connections: `0`", "from 1 to 1000000"),
        (["--keep-releases", "21"], "--keep-releases: `21`", "from 0 to 20"),
        (["--memory", "512"], "--memory: `512`", "not a size with its unit, such as 512M or 2G"),
        (["--memory", "1M"], "--memory: `1M`", "at least 64M"),
        (["--poll-interval", "0"], "--poll-interval: `0`", "from 20 to 1000"),
        (["--poll-interval", "1001"], "--poll-interval: `1001`", "from 20 to 1000"),
        (["--drain-seconds", "-1"], "--drain-seconds: `-1`", "from 0 to 3600"),
        (["--log", "loud"], "--log", "error, warn, info"),
    ] {
        let refusal = refusal(&words);
        assert!(refusal.contains(setting) && refusal.contains(accepted), "{words:?}: {refusal}");
    }
    assert!(refusal(&["--lisen", "x"]).contains("--listen"), "a mistyped flag gets a suggestion");
    assert!(refusal(&["serv"]).contains("serve"), "a mistyped command gets a suggestion");
    assert!(refusal(&["account"]).contains("set-tier"), "an incomplete command lists the subcommands");
}

#[test]
fn valid_settings_are_accepted() {
    assert_eq!(settings(&["--listen", "localhost:0"]).listen, "127.0.0.1:0".parse().unwrap());
    assert_eq!(settings(&["--listen", "[::1]:80"]).listen, "[::1]:80".parse().unwrap());
    let bound = "127.0.0.1:4711".parse().unwrap();
    assert_eq!(settings(&[]).base_url(bound), "http://127.0.0.1:4711");
    let public = settings(&["--public-url", "https://example.com/venture/"]);
    assert_eq!(public.base_url(bound), "https://example.com/venture");
    let origins = settings(&["--allowed-origins", "https://a.example,*"]).allowed_origins;
    assert_eq!(origins, Some(vec!["https://a.example".parse().unwrap(), Origin::Any]));
}

#[test]
fn rate_limits_are_settings() {
    assert_eq!(settings(&[]).rate_limits(), RateLimitConfig { pages_per_minute: 120, sign_ups_per_hour: 5 });
    let more = settings(&["--pages-per-minute", "600", "--sign-ups-per-hour", "50"]).rate_limits();
    assert_eq!(more, RateLimitConfig { pages_per_minute: 600, sign_ups_per_hour: 50 });
}

#[test]
fn strangers_sign_up_only_if_the_operator_lets_them() {
    let sign_up = |words: &[&str]| settings(words).sign_up();
    assert_eq!(sign_up(&[]), SignUp::Open);
    for access in ["key", "accounts"] {
        assert_eq!(sign_up(&["--access", access]), SignUp::Invite);
        assert_eq!(sign_up(&["--access", access, "--sign-up", "open"]), SignUp::Open);
        assert_eq!(sign_up(&["--access", access, "--sign-up", "off"]), SignUp::Off);
    }
    assert_eq!(sign_up(&["--sign-ups-per-hour", "0"]), SignUp::Off);
    assert_eq!(sign_up(&["--sign-ups-per-hour", "0", "--sign-up", "invite"]), SignUp::Invite);
}

#[test]
fn data_must_be_public_if_strangers_on_other_machines_could_see_it() {
    let (loopback, public) = ("127.0.0.1:8080".parse().unwrap(), "0.0.0.0:8080".parse().unwrap());
    for (words, is_needed) in [
        (&[][..], true),
        (&["--access", "key"], false),
        (&["--access", "accounts", "--sign-up", "off"], false),
        (&["--access", "accounts", "--sign-up", "open"], true),
        (&["--sign-up", "off"], true),
        (&["--may-publish", "on"], false),
    ] {
        let settings = settings(words);
        assert_eq!(settings.needs_public_license(public), is_needed, "{words:?}");
        assert!(!settings.needs_public_license(loopback), "{words:?}");
    }
}

#[test]
fn operator_commands_are_parsed() {
    let cli = read(&["account", "create", "--email", "Ada@Example.com", "--tier", "pro"]).unwrap();
    let Command::Account {
        options: CommandOptions { json: false, .. },
        command: AccountCommand::Create { email, tier, password_stdin },
    } = cli.command
    else {
        panic!()
    };
    assert_eq!((email.as_str(), tier, password_stdin), ("ada@example.com", Tier::Pro, false));
    let cli = read(&["account", "create", "--email", "ada@example.com", "--password-stdin"]).unwrap();
    let command = |cli: Cli| if let Command::Account { command, .. } = cli.command { command } else { panic!() };
    assert!(matches!(command(cli), AccountCommand::Create { tier: Tier::Free, password_stdin: true, .. }));
    let cli = read(&["account", "set-password", "--email", "ada@example.com", "--password-stdin"]).unwrap();
    assert!(matches!(command(cli), AccountCommand::SetPassword { .. }));
    let cli = read(&["account", "delete", "--email", "ada@example.com"]).unwrap();
    assert!(matches!(command(cli), AccountCommand::Delete { .. }));
    let missing = refusal(&["account", "set-password", "--email", "ada@example.com"]);
    assert!(missing.contains("--password-stdin"), "there is no prompt: {missing}");
    let misplaced = refusal(&["account", "set-password", "--email", "ada@example.com", "--password", "secret words"]);
    assert!(misplaced.contains("--password-stdin"), "{misplaced}");
    let cli = read(&["key", "revoke", "12"]).unwrap();
    assert!(matches!(
        cli.command,
        Command::Key { command: KeyCommand::Revoke { key: KeyArgument::Key(KeyRef::Id(_)) }, .. }
    ));
    let cli = read(&["key", "revoke", "-"]).unwrap();
    assert!(matches!(cli.command, Command::Key { command: KeyCommand::Revoke { key: KeyArgument::Stdin }, .. }));
    assert!(refusal(&["account", "create", "--email", "ada"]).contains("ada@example.com"));
    let rejected = refusal(&["account", "set-tier", "--email", "ada@example.com", "--tier", "gold"]);
    assert!(rejected.contains("free, pro, enterprise"), "{rejected}");
    assert!(refusal(&["key", "create", "--email", "ada@example.com"]).contains("--name"));
}

#[test]
fn help_lists_every_setting_with_its_variable_and_exits_with_0() {
    for words in [["--help"].as_slice(), &["serve", "--help"], &["-h"]] {
        let help = read(words).unwrap_err();
        assert_eq!(help.code, 0);
        let help = help.to_string();
        for arg in Cli::command().find_subcommand("serve").unwrap().get_arguments() {
            let (Some(long), Some(variable)) = (arg.get_long(), arg.get_env()) else { continue };
            assert_eq!(variable.to_str().unwrap(), format!("VENTUREDEX_{}", long.to_uppercase().replace('-', "_")));
            assert!(help.contains(&format!("--{long} ")), "{words:?}: {long}\n{help}");
            assert!(help.contains(&format!("{}=", variable.to_str().unwrap())), "{words:?}: {long}\n{help}");
        }
        assert!(help.contains("--data <DIR>") && help.contains("VENTUREDEX_DATA"));
    }
    assert_eq!(read(&["--version"]).unwrap_err().code, 0);
}

#[test]
fn no_message_repeats_a_key() {
    let secret = "vdx_0123456789ABCDEFGHIJ";
    for words in [
        ["key", "revoke", secret].as_slice(),
        &["key", "create", "--email", secret, "--name", "n"],
        &["key", secret],
        &[secret],
        &["--listen", secret],
        &["key", "list", "--emall", secret],
        &["key", "revoke", "1", secret],
    ] {
        let refusal = refusal(words);
        assert!(!refusal.contains("456789"), "{refusal}");
    }
    assert!(refusal(&["key", "revoke", secret]).contains("`vdx_0123…`"));
    assert!(refusal(&["key", "revoke", "vdx_aB3d…9xY"]).contains("`vdx_aB3d…9xY`"), "a short form is not a key");
}

#[test]
fn unknown_variables_are_reported_with_the_nearest_setting() {
    let names = ["VENTUREDEX_LISTN", "VENTUREDEX_COLOUR", "VENTUREDEX_DATA", "VENTUREDEX_REAL_DATA", "PATH"];
    assert_eq!(
        unknown_variables(names.map(str::to_owned)),
        [("VENTUREDEX_LISTN".to_owned(), Some("VENTUREDEX_LISTEN".to_owned())), ("VENTUREDEX_COLOUR".to_owned(), None)]
    );
}
