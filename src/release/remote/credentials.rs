//! S3 credentials from a file: unlike variables, it is not visible to those who may inspect the container.

use std::env;
use std::fs;
use std::path::PathBuf;

use object_store::aws::AmazonS3Builder;

/// Adds the credentials from the file named by the environment, unless the environment itself has credentials.
pub(super) fn add(builder: AmazonS3Builder) -> Result<AmazonS3Builder, String> {
    let Some(file) = env::var_os("AWS_SHARED_CREDENTIALS_FILE").filter(|_| env::var_os("AWS_ACCESS_KEY_ID").is_none())
    else {
        return Ok(builder);
    };
    let file = PathBuf::from(file);
    let error = |error: String| format!("AWS_SHARED_CREDENTIALS_FILE {}: {error}", file.display());
    let text = fs::read_to_string(&file).map_err(|problem| error(problem.to_string()))?;
    let profile = env::var("AWS_PROFILE").unwrap_or_else(|_| "default".into());
    let (id, secret, token) = parse(&text, &profile)
        .ok_or_else(|| error(format!("has no profile [{profile}] with aws_access_key_id and aws_secret_access_key")))?;
    let builder = builder.with_access_key_id(id).with_secret_access_key(secret);
    Ok(match token {
        Some(token) => builder.with_token(token),
        None => builder,
    })
}

/// Parses the lines `name = value` below `[profile]`: id, secret, and the session token of temporary credentials.
fn parse(text: &str, profile: &str) -> Option<(String, String, Option<String>)> {
    let lines = text.lines().map(str::trim).skip_while(|line| section(line) != Some(profile)).skip(1);
    let lines: Vec<_> = lines.take_while(|line| section(line).is_none()).collect();
    let value = |wanted: &str| {
        let mut pairs = lines.iter().filter_map(|line| line.split_once('='));
        pairs.find(|(name, _)| name.trim() == wanted).map(|(_, value)| value.trim().to_owned())
    };
    Some((value("aws_access_key_id")?, value("aws_secret_access_key")?, value("aws_session_token")))
}

fn section(line: &str) -> Option<&str> {
    Some(line.strip_prefix('[')?.strip_suffix(']')?.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_of_a_profile_are_read() {
        let text = "# of the replicas\n[default]\naws_access_key_id = replica\naws_secret_access_key=a=b\n\n\
                    [ indexer ]\n; may write\naws_access_key_id=indexer\naws_secret_access_key = c\naws_session_token = d\n\
                    [half]\naws_access_key_id = e\n";
        let found = |id: &str, secret: &str, token: Option<&str>| {
            Some((id.to_owned(), secret.to_owned(), token.map(str::to_owned)))
        };
        assert_eq!(parse(text, "default"), found("replica", "a=b", None));
        assert_eq!(parse(text, "indexer"), found("indexer", "c", Some("d")));
        assert_eq!((parse(text, "half"), parse(text, "other"), parse("", "default")), (None, None, None));
    }
}
