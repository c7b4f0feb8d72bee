#!/usr/bin/env python3
"""Plants one fault after the other in a copy of the tree: its test must fail. `run.py [WORD]` plants those with the word.

A fault is one text that is replaced. If the text is no longer in the file exactly once, the list below is out of date.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "target" / "planted"
TREE = TARGET / "tree"

# Each: the fault, the file, the text, what replaces it, `it` or the crate of the test, the test.
FAULTS = [
    (
        "`current` is replaced before the release has its name",
        "src/release/publish.rs",
        "        self.releases.rename_draft(self.file_system, draft, version)?;\n"
        "        self.releases.switch(self.file_system)?;\n",
        "        self.releases.switch(self.file_system)?;\n"
        "        self.releases.rename_draft(self.file_system, draft, version)?;\n",
        "release",
        "crash::a_build_killed_at_any_point_leaves_the_old_or_the_new_release",
    ),
    (
        "the checksum of a file is not compared",
        "src/release/open.rs",
        "if found == file.sha256 {",
        "if found == file.sha256 || file.bytes > 0 {",
        "release",
        "tests::every_changed_truncated_extended_or_missing_file_is_detected",
    ),
    (
        "what an unapproved review says is published",
        "src/data/import/rows.rs",
        "(self.listed_status() == Some(ReviewStatus::Approved)).then_some(&self.content)",
        "Some(&self.content)",
        "it",
        "api::reviews::no_byte_of_a_release_depends_on_what_an_unapproved_review_says",
    ),
    (
        "the left-most forwarded address is the client",
        "src/auth/quota/ip_range.rs",
        "forwarded_for.rev().flat_map(|header| header.rsplit(','))",
        "forwarded_for.flat_map(|header| header.split(','))",
        "it",
        "server::quota::the_addresses_of_a_pool_share_a_limit_behind_a_trusted_proxy",
    ),
    (
        "the quota is checked, then added to",
        "src/auth/quota/daily_counter.rs",
        "        let mut count = self.counts.entry(id).or_default();\n        let used = count.total();\n"
        "        let after = used.saturating_add(requests);\n"
        "        if limit.is_some_and(|limit| after > limit) {\n"
        "            return Err(Quota::new(limit, used, today));\n        }\n",
        "        let used = self.counts.get(&id).map_or(0, |count| count.total());\n"
        "        let after = used.saturating_add(requests);\n"
        "        if limit.is_some_and(|limit| after > limit) {\n"
        "            return Err(Quota::new(limit, used, today));\n        }\n"
        "        std::thread::yield_now();\n"
        "        let mut count = self.counts.entry(id).or_default();\n",
        "auth",
        "quota::daily_counter::tests::sixty_four_clients_at_once_get_exactly_the_limit_on_each_day",
    ),
    (
        "a cursor is followed with another query",
        "src/catalog/cursor.rs",
        "if known.or_else(|| default_of(name, has_text)).as_ref() != Some(value) {",
        "if known.or_else(|| default_of(name, has_text)).as_ref() != Some(value) && name.is_empty() {",
        "it",
        "api::paging::a_cursor_is_bound_to_its_query",
    ),
    (
        "forms of other sites are accepted",
        "src/site/account/origin.rs",
        "        (Some(_), _) => false,\n",
        "        (Some(_), _) => true,\n",
        "it",
        "account::forms_are_accepted_only_from_pages_of_this_site",
    ),
    (
        "each unknown key is a look-up of its own",
        "src/auth/service.rs",
        "if self.refreshes.load(Ordering::Acquire) == refreshes {",
        "if self.refreshes.load(Ordering::Acquire) >= refreshes {",
        "it",
        "simulator::a_flood_of_invented_keys_reads_the_store_twice_at_most",
    ),
    (
        "counts that the store refused are forgotten",
        "src/auth/service.rs",
        "                    self.key_counter.not_written(&added);\n                    return Err(error);\n",
        "                    let _ = error;\n",
        "it",
        "simulator::what_is_promised_holds_under_faults",
    ),
    (
        "a revoked key is accepted until a restart",
        "src/auth/service.rs",
        "let before = self.keys.insert(state.digest.first_half(), state);",
        "let before = if state.revoked { None } else { self.keys.insert(state.digest.first_half(), state) };",
        "it",
        "simulator::what_is_promised_holds_under_faults",
    ),
    (
        "a cached response is served for every release",
        "src/transport/response_cache.rs",
        "        Self { release, variant: 0, path, query }\n",
        "        Self { release: release & 0, variant: 0, path, query }\n",
        "it",
        "server::response_cache::a_new_release_has_its_own_responses",
    ),
    (
        "a panic of a route is not caught",
        "src/transport/server/connection.rs",
        "panics::catch_async(handler.respond_later(pending, request)).await;",
        "Ok::<_, panics::Panic>(handler.respond_later(pending, request).await);",
        "transport",
        "server::tests::a_panic_is_a_500_and_the_connection_continues",
    ),
    (
        "a log line shows a whole key",
        "src/auth/api_key.rs",
        'write!(f, "ApiKey({})", self.masked())',
        'write!(f, "ApiKey({})", self.reveal())',
        "auth",
        "api_key::tests::a_key_prints_itself_masked",
    ),
    (
        "a search is cut before its filter",
        "src/catalog/list.rs",
        "let rows = matches.rows.iter().copied().filter(|row| filter.contains(*row)).collect();",
        "let most = if query.filters.is_empty() { usize::MAX } else { 20 };\n"
        "            let rows = matches.rows.iter().copied().take(most).filter(|row| filter.contains(*row)).collect();",
        "it",
        "search::filtered::a_filter_only_removes_rows_from_a_search",
    ),
    (
        "the quota of a failed call is not given back",
        "src/mcp/endpoint.rs",
        "Some(charge) if is_refunded =>",
        "Some(charge) if is_refunded && message.method.is_empty() =>",
        "it",
        "server::cost::what_finds_no_place_in_the_queue_is_a_503_that_is_not_counted",
    ),
    (
        "a backup is restored without a check",
        "src/cli/admin/backup.rs",
        "if (sha256, bytes) != (description.database.sha256, description.database.bytes) {",
        "if (sha256, bytes) != (sha256, bytes) {",
        "it",
        "commands::backup::a_damaged_backup_is_refused_and_nothing_is_changed",
    ),
    (
        "an archive is opened with rows that do not exist",
        "src/data/archive/facet_column.rs",
        'check((0..self.values as u32).all(is_set), &format!("{name}.sets"))?;',
        "let _ = is_set;",
        "it",
        "repository::fuzz::archive",
    ),
    (
        "a restart forgets the day before",
        "src/auth/service.rs",
        "for day in [-1, 0, 1].map(",
        "for day in [0].map(",
        "it",
        "server::quota::a_clock_that_moves_over_midnight_and_back_gives_each_day_its_quota_once",
    ),
    (
        "every host is ours",
        "src/transport/origin_policy.rs",
        "if self.contains(&host) { Ok(()) }",
        "if self.contains(&host) || !host.is_empty() { Ok(()) }",
        "it",
        "server::cost::hosts_that_are_not_ours_are_misdirected",
    ),
    (
        "a release that panics ends the watcher",
        "src/release/watch.rs",
        "match panics::catch(work) {",
        "match Ok::<_, ()>(work()) {",
        "release",
        "watch::tests::a_panic_while_a_release_is_read_is_a_reason_not_to_serve_it",
    ),
    (
        "any signature of a release is accepted",
        "src/release/signature.rs",
        "Some(signature) if self.has_signed(signed, signature) => return Ok(()),",
        "Some(signature) if self.has_signed(signed, signature) || !signature.is_empty() => return Ok(()),",
        "it",
        "releases::policy::with_a_trusted_key_only_signed_releases_are_served_verified_and_activated",
    ),
    (
        "a backup is restored over a running server",
        "src/cli/admin/backup.rs",
        "let _lock = DataLock::acquire(data)?;",
        "let _lock = DataLock::acquire(data);",
        "it",
        "commands::backup::a_backup_of_a_server_under_load_is_restored_with_accounts_keys_and_usage",
    ),
    (
        "a log line shows the query of a request",
        "src/transport/server/connection.rs",
        "        let (method, uri) = (request.method(), request.uri());\n",
        "        let (method, uri) = (request.method(), request.uri());\n        tracing::info!(%uri, \"request\");\n",
        "it",
        "server::telemetry::no_secret_of_any_flow_is_in_a_log_in_the_metrics_or_in_the_database",
    ),
    (
        "what fits of a log line stays on a full disk",
        "src/auth/log_file.rs",
        "    if part > 0\n",
        "    if part > 4096\n",
        "it",
        "server::full_disk::a_full_disk_loses_nothing_confirmed_and_stops_nothing_that_only_reads",
    ),
    (
        "a server does not start on a full disk",
        "src/auth/sql/mod.rs",
        "    if let Some(known) = stored()? {\n"
        "        return Ok(known);\n"
        "    }\n"
        '    sql.execute("UPDATE service SET cursor_secret = ?1 WHERE cursor_secret IS NULL", &params![&fresh])?;\n',
        "    let known = stored()?.unwrap_or(fresh);\n"
        '    sql.execute("UPDATE service SET cursor_secret = ?1", &params![&known])?;\n',
        "it",
        "server::full_disk::a_full_disk_loses_nothing_confirmed_and_stops_nothing_that_only_reads",
    ),
    (
        "an evaluation is stored although another server stored one",
        "src/auth/sql/alerts.rs",
        "WHERE id = ?3 AND evaluated = ?4 \\\n",
        "WHERE id = ?3 AND evaluated <> ?4 || 'z' \\\n",
        "auth",
        "sqlite::tests::it_passes_the_conformance_suite",
    ),
    (
        "a message has another id at each attempt",
        "src/service/alerts/sender.rs",
        'format!("msg_{}", delivery.id.0)',
        'format!("msg_{}_{}", delivery.id.0, delivery.attempts)',
        "it",
        "alerts::delivery::killed_servers_deliver_each_match_once",
    ),
    (
        "messages that were being sent are forgotten",
        "src/auth/sql/alerts.rs",
        "SET due_at = ?1, claimed = TRUE WHERE due_at",
        "SET due_at = NULL, claimed = TRUE WHERE ?1 > 0 AND due_at",
        "auth",
        "sqlite::tests::it_passes_the_conformance_suite",
    ),
    (
        "of the addresses of a host one is checked",
        "src/service/alerts/webhook/client.rs",
        "if !found.iter().all(|address|",
        "if !found.iter().any(|address|",
        "service",
        "alerts::webhook::tests::delivery::one_address_that_is_not_allowed_refuses_all",
    ),
    (
        "an older pointer of an object store is followed",
        "src/release/remote/freshness.rs",
        "if found.rank() < pointer.rank() {",
        "if found.generation == 0 && found.rank() < pointer.rank() {",
        "release",
        "remote::freshness::tests::each_fault_is_found_and_what_is_in_order_is_followed",
    ),
    (
        "a pointer is followed whatever key has signed it",
        "src/release/remote/delegation.rs",
        "(Some(_), Some(key)) if !delegation.pointer_keys.contains(key) => {",
        "(Some(_), Some(key)) if delegation.pointer_keys.is_empty() && !delegation.pointer_keys.contains(key) => {",
        "release",
        "remote::tests::pointers_are_followed_only_with_a_delegated_signature_once_there_was_a_delegation",
    ),
    (
        "the signature of a pointer is not verified",
        "src/release/signature.rs",
        "self.key.has_signed(self.content().as_bytes(), &signature).then_some(&self.key)",
        "(!self.content().is_empty() && signature.len() == 64).then_some(&self.key)",
        "release",
        "signature::tests::a_signed_document_has_the_signer_of_its_exact_bytes",
    ),
    (
        "a pointer is replaced also if it is another by now",
        "src/release/remote/objects.rs",
        "Some(now) if now.bytes == read.bytes =>",
        "Some(now) if now.bytes == read.bytes || !now.bytes.is_empty() =>",
        "release",
        "remote::tests::one_of_sixteen_indexers_wins",
    ),
    (
        "unsigned packings of releases are accepted",
        "src/release/remote/mod.rs",
        "if let Some(key) = &self.trusted {",
        "if let Some(key) = self.trusted.as_ref().filter(|_| version.to_string().is_empty()) {",
        "release",
        "remote::tests::unsigned_and_wrongly_signed_releases_are_refused",
    ),
    (
        "turns go to whoever came first",
        "src/auth/quota/fair_queue.rs",
        "(self.time(piece.caller), self.most(piece.caller, |state, _| state.active as u64), piece.number)",
        "(0, 0, piece.number)",
        "auth",
        "quota::fair_queue::tests::a_light_caller_waits_for_one_piece_of_a_heavy_one",
    ),
    (
        "whoever comes last is refused",
        "src/auth/quota/fair_queue.rs",
        "(places / u64::from(piece.caller.weight()), self.time(piece.caller), piece.number)",
        "(0 * places, 0, piece.number)",
        "auth",
        "quota::fair_queue::tests::the_caller_with_most_pieces_is_the_one_who_is_refused",
    ),
    (
        "a replica switches before the announced time",
        "src/release/remote/replica.rs",
        "now < pointer.activate_at",
        "now < pointer.activate_at - 86_400",
        "release",
        "remote::tests::a_replica_has_the_files_that_were_pushed_and_switches_at_the_announced_time",
    ),
    (
        "what a server has leased is not given back when it stops",
        "src/auth/service/quotas.rs",
        "let unused = shared.leases.unused(today, all);",
        "let unused = shared.leases.unused(today, false & all);",
        "auth",
        "postgres::tests::leases::what_a_server_gives_back_when_it_stops_is_admitted_by_another",
    ),
    (
        "all that a killed server held is given back",
        "src/auth/postgres/counters.rs",
        "(day, kind, counter, (units - spent).max(0))",
        "(day, kind, counter, (units - 0 * spent).max(0))",
        "auth",
        "postgres::tests::leases::what_killed_servers_held_is_admitted_by_their_successors_to_the_unit",
    ),
    (
        "what a server spends is noted after it is admitted",
        "src/auth/quota/lease.rs",
        "if !self.note_spent(&slot, &mut units, requests.into()) {",
        "if !self.note_spent(&slot, &mut units, i64::from(requests) - 1) {",
        "auth",
        "quota::lease::tests::killed_servers_lose_no_unit_and_admit_none_twice",
    ),
    (
        "each server counts the quota of a key by itself",
        "src/auth/service/quotas.rs",
        "self.shared.as_ref().zip(self.daily_limit(caller.tier)).filter(|_| caller.counter.0 >= 0)",
        "self.shared.as_ref().zip(self.daily_limit(caller.tier)).filter(|_| caller.counter.0 < 0)",
        "auth",
        "postgres::tests::leases::three_servers_admit_exactly_the_limit_of_a_key",
    ),
    (
        "a network without a key has as much as its addresses together",
        "src/auth/quota/client_hasher.rs",
        "range(NETWORK_MULTIPLE, self.hash(of_network",
        "range(1 << 16, self.hash(of_network",
        "it",
        "server::doors::a_key_yields_more_than_no_key_at_every_door",
    ),
    (
        "a form for programs costs nothing without a key",
        "src/service/bill.rs",
        "Payer::Anonymous => state.auth.take_anonymous(self.address, further.saturating_mul(HUNDREDTHS), today),",
        "Payer::Anonymous => state.auth.take_anonymous(self.address, 0, today),",
        "it",
        "server::doors::the_doors_share_what_an_address_has_without_a_key",
    ),
    (
        "leases exceed the limit",
        "src/auth/postgres/counters.rs",
        "greatest(least({left}, greatest(",
        "greatest(greatest({left}, greatest(",
        "auth",
        "postgres::tests::leases::three_servers_admit_exactly_the_limit_of_a_key",
    ),
    (
        "what was admitted while the store was away is not counted",
        "src/auth/service/quotas.rs",
        "for renewal in shared.leases.owing() {",
        "for renewal in shared.leases.owing().into_iter().skip(1_000) {",
        "auth",
        "postgres::tests::leases::"
        "known_keys_are_served_while_the_database_is_away_and_what_they_used_is_counted_afterwards",
    ),
    (
        "unknown keys are rejected while the store is away",
        "src/auth/service.rs",
        "AuthError::Invalid if !is_read => AuthError::StoreAway,",
        "AuthError::Invalid if is_read => AuthError::StoreAway,",
        "auth",
        "postgres::tests::leases::"
        "known_keys_are_served_while_the_database_is_away_and_what_they_used_is_counted_afterwards",
    ),
    (
        "each server counts failed sign-ins by itself",
        "src/auth/rate_limits.rs",
        "let Some(store) = store else {",
        "let Some(store) = store.filter(|_| self.limit == 0) else {",
        "auth",
        "postgres::tests::windows::three_servers_give_no_more_guesses_than_one",
    ),
    (
        "purges follow the clock of the machine",
        "src/auth/service/steady_time.rs",
        "let due = base.saturating_add(passed.saturating_sub(since)).min(now);",
        "let due = base.saturating_add(passed.saturating_sub(since)).max(now);",
        "it",
        "simulator::purges::no_row_is_deleted_early_by_a_clock_that_is_wrong_by_years",
    ),
    (
        "quotas follow each jump of the clock",
        "src/auth/service/steady_time.rs",
        "if difference > JUMP {",
        "if difference > JUMP + u64::MAX / 2 {",
        "it",
        "simulator::what_is_promised_holds_under_faults",
    ),
    (
        "a network takes all turns in the line of sign-ins",
        "src/auth/password/line.rs",
        "of_network.last_round = self.round.max(of_network.last_round + 1);",
        "of_network.last_round = self.round;",
        "auth",
        "password::line::tests::networks_take_turns",
    ),
    (
        "the number of a change is given without a lock, as a sequence would",
        "src/auth/sql/mod.rs",
        "UPDATE service SET change = change + 1 RETURNING change",
        "SELECT max(changed) + 1 FROM (SELECT changed FROM keys UNION ALL SELECT change FROM service) AS known",
        "auth",
        "postgres::tests::a_sequence_loses_a_change_and_the_counted_row_does_not",
    ),
]


def copy_tree() -> None:
    """The files that git knows, changed ones included."""
    shutil.rmtree(TREE, ignore_errors=True)
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    for name in subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (TREE / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, TREE / name)


def run_test(kind: str, test: str) -> str:
    """`passed`, `failed` or what went wrong."""
    environment = {**os.environ, "CARGO_TARGET_DIR": os.environ.get("CARGO_TARGET_DIR", str(TARGET)), "RUST_BACKTRACE": "0"}
    environment.pop("VENTUREDEX_REAL_DATA", None)
    command = ["cargo", "test", "--quiet", *(["--test", "it"] if kind == "it" else ["--package", f"venturedex-{kind}", "--lib"]), "--", "--exact", test]
    done = subprocess.run(command, cwd=TREE, env=environment, capture_output=True, text=True)
    results = re.findall(r"test result: (\w+)\. (\d+) passed; (\d+) failed", done.stdout)
    counted = [(int(passed), int(failed)) for _, passed, failed in results]
    if counted == [(1, 0)]:
        return "passed"
    if counted == [(0, 1)]:
        return "failed"
    return "does not compile or has no such test:\n" + (done.stderr or done.stdout)[-1500:]


def main() -> int:
    words = sys.argv[1:]
    chosen = [fault for fault in FAULTS if all(any(word in part for part in fault) for word in words)]
    copy_tree()
    missed = 0
    for fault, name, text, replacement, kind, test in chosen:
        path = TREE / name
        original = path.read_text()
        start = time.monotonic()
        if original.count(text) != 1:
            outcome = f"{name} has the text {original.count(text)} times"
        else:
            path.write_text(original.replace(text, replacement))
            outcome = run_test(kind, test)
            path.write_text(original)
        is_caught = outcome == "failed"
        missed += not is_caught
        verdict = "caught by" if is_caught else f"NOT CAUGHT ({outcome}):"
        print(f"{fault} ({name}): {verdict} {test}, {time.monotonic() - start:.0f} s", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} faults are caught")
    return 1 if missed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
