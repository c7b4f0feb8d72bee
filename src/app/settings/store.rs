//! Location of accounts, keys and usage: the data folder, or a database shared by several servers.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use crate::app::settings::parse_uint;
use crate::app::settings::tiers::{self, TierSetting};
use auth::quota::{TierOrderError, Tiers};
use auth::{PostgresSettings, PostgresStore, SqliteStore, Store, StoreError, StoreUrl};

/// For all commands that use accounts.
#[derive(Clone, Debug, Default, Args)]
pub struct StoreSettings {
    /// PostgreSQL database of accounts, keys and usage, which several servers may share:
    /// postgres://user@host/database; encrypted unless the host is this machine [default: a file in the folder of --data].
    #[arg(long, env = "VENTUREDEX_STORE", value_name = "URL", global = true, hide_env_values = true)]
    pub store: Option<StoreUrl>,
    /// File whose only line is the password of the database user: other users of the machine see arguments.
    #[arg(long, env = "VENTUREDEX_STORE_PASSWORD_FILE", value_name = "FILE", global = true)]
    pub store_password_file: Option<PathBuf>,
    /// Connections to PostgreSQL at a time. Those of all servers together must stay below the database's max_connections.
    #[arg(long, env = "VENTUREDEX_STORE_CONNECTIONS", value_name = "NUMBER", default_value_t = 4, global = true,
          allow_negative_numbers = true, value_parser = |text: &str| parse_uint(text, 1..=1_000))]
    pub store_connections: u32,
    /// Limits of tiers, and of clients without a key: requests a day and keys of a tier, requests of programs and rows of pages a
    /// day of an address, such as free=requests:100,keys:3; several separated by semicolons. What is not set keeps its default:
    /// anonymous=requests:40,rows:40000;free=requests:100,keys:3;pro=requests:5000,keys:10;enterprise=requests:unlimited,keys:unlimited.
    #[arg(long, env = "VENTUREDEX_TIERS", value_name = "TIER=LIMITS", value_delimiter = ';', global = true)]
    pub tiers: Vec<TierSetting>,
}

impl StoreSettings {
    /// The flags of this struct, each of which takes a value.
    pub(super) const FLAGS: [&str; 4] = ["--store", "--store-password-file", "--store-connections", "--tiers"];

    /// The limits of all tiers; the error is one that [`Cli::read`](super::Cli::read) reports.
    pub(crate) fn tiers(&self) -> Result<Tiers, TierOrderError> {
        tiers::tiers(&self.tiers)
    }

    /// Connection settings of the database, if accounts are in one. [`StoreError::Unusable`]: unreadable password.
    pub(crate) fn postgres(&self) -> Result<Option<PostgresSettings>, StoreError> {
        let Some(url) = &self.store else { return Ok(None) };
        let file = self.store_password_file.as_deref();
        PostgresSettings::read(url.clone(), file, self.store_connections).map(Some)
    }

    /// Opens the database, or the file in the folder `data`. Blocks.
    pub(crate) fn open(&self, data: &Path) -> Result<Box<dyn Store>, StoreError> {
        let tiers = self.tiers().unwrap_or_default();
        Ok(match self.postgres()? {
            Some(settings) => Box::new(PostgresStore::open(&settings)?.with_tiers(tiers)),
            None => Box::new(SqliteStore::open(data)?.with_tiers(tiers)),
        })
    }
}

#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// Copy everything from the SQLite store of a data folder, which no server may use, into the empty PostgreSQL database of
    /// --store, and compare both row by row.
    Copy {
        /// The data folder to copy from.
        #[arg(long, value_name = "DIR")]
        from: PathBuf,
        /// Print JSON, including errors.
        #[arg(long)]
        json: bool,
    },
}
