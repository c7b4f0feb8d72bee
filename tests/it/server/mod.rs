//! The server as a whole: quotas, queues, caches, logs and metrics, crashes, full disks, shared stores, secrets in
//! memory.

mod access;
mod cost;
mod crash;
mod doors;
mod full_disk;
mod health;
mod memory;
mod process_limits;
mod quota;
mod refusals;
mod response_cache;
mod shared_store;
mod telemetry;
mod work_queue;
