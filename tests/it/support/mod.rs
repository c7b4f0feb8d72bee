//! Servers, clients, programs, datasets and readers of responses that tests share.

pub mod browser;
pub mod dataset_faults;
pub mod harness;
pub mod html;
pub mod installation;
pub mod json_schema;
pub mod naive;
pub mod parquet_files;
pub mod postgres_server;
pub mod program;
pub mod review_world;
pub mod two_firms;
