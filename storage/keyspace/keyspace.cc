#include "storage/keyspace/keyspace.h"

#include <algorithm>
#include <utility>

#include "storage/memtable/scan.h"

namespace weir::storage {
Keyspace::Keyspace(StoreFactory make_store, KeyspaceOptions options)
    : make_store_(std::move(make_store)),
      options_(options),
      dirty_bytes_(set_, write_back_, store_, options_),
      turn_(&set_, &watches_, &events_, &dirty_bytes_, options_),
      reclaimer_(&set_, &write_back_),
      records_(&set_, &turn_, &reclaimer_, &watches_, &events_, store_),
      lists_(&set_, &turn_, &reclaimer_, store_),
      schedule_(&write_back_, &set_, &reclaimer_, &end_, store_, turn_, dirty_bytes_, options_),
      evictor_(&set_, &records_, &reclaimer_, turn_, options_),
      commit_(&set_, &turn_, &write_back_, &dirty_bytes_, &reclaimer_, &records_, &lists_,
              &schedule_),
      replay_(&set_, &turn_, &write_back_, &reclaimer_, &records_, &lists_, &watches_),
      recovery_(&set_, &records_, &reclaimer_, &replay_),
      work_(&schedule_, &evictor_, &reclaimer_, &dirty_bytes_, &set_, turn_, store_),
      followed_(&set_, &records_, &turn_, &replay_, &schedule_, &dirty_bytes_, &store_, &end_,
                options_) {
  set_.tell_counts(options_.follows);
}

Keyspace::~Keyspace() {
  store_.close();  // its threads may call notify, and a write-back points into the tables
}

void Keyspace::set_options(const KeyspaceOptions& options) {
  const int databases = options_.databases;
  const bool followed = options_.follows;
  options_ = options;
  options_.databases = databases;
  set_.tell_counts(options_.follows);
  if (followed && !options_.follows) recovery_.create_missing_databases();
  if (dirty_bytes_.turn_bytes() == 0) dirty_bytes_.begin_turn();
}

Status Keyspace::open(OpenReport* report, const OpeningWatch& watch) {
  store_.use(make_store_());
  store_->set_opening_watch(watch);
  if (Status status = store_->open(report); !status.ok()) {
    store_.close();
    return status;
  }
  return fill_from_store(*report, watch);
}

Status Keyspace::reopen(Keep keep) {
  if (options_.log != nullptr && keep == Keep::kAll)
    return Status::refused("a log that several machines share decides which turns there are");
  const bool has_all = !store_.failed() && !turn_.has_changes() && end_.turn == end_.logged_turn;
  if (keep == Keep::kCommitted && has_all) {
    end_at_newest_logged_turn();
    return {};
  }
  schedule_.abandon();
  store_.close();
  auto store = make_store_();
  store->expect(set_.seed());
  OpenReport report;
  if (Status status = store->open(&report); !status.ok()) return status;
  store_.use(std::move(store));
  if (!report.read_only.ok()) return report.read_only;  // reads go on, with memory as it is
  if (keep == Keep::kAll) {
    // Turns that the log has lost are numbered anew: it may have no gap.
    end_.turn = std::min(end_.turn, report.last_turn);
    return append_everything_owed();
  }
  forget_everything();
  if (options_.follows) {
    turn_.forget_instant();
    end_.instant_ns = 0;
  }
  return fill_from_store(report);
}

// With many keys it takes long to fill memory anew, and a primary that is demoted has nothing that
// is not committed.
void Keyspace::end_at_newest_logged_turn() {
  watches_.touch_all();
  turn_.forget();
  turn_.forget_instant();
  end_.instant_ns = end_.logged_instant_ns;
  turn_.reach(end_.instant_ns);
  followed_.begin();
}

void Keyspace::forget_everything() {
  watches_.touch_all();
  turn_.forget();
  set_.forget();
  reclaimer_.forget();
  lists_.set_bound(1);
  write_back_ = WriteBack();
}

Status Keyspace::fill_from_store(const OpenReport& report, const OpeningWatch& watch) {
  set_.begin(store_->hash_seed(), static_cast<size_t>(options_.databases) + 1);
  end_.turn = report.written_back_turn;
  write_back_.set_written_back_turn(end_.turn);
  end_.instant_ns = std::max(end_.instant_ns, report.instant_ns);
  schedule_.begin_at_end_of_log();
  const Recovery::Watch watched{.watch = watch, .last_turn = report.last_turn};
  if (Status status = recovery_.fill(store_.get(), &end_, watched); !status.ok()) return status;
  turn_.reach(end_.instant_ns);
  followed_.begin();
  end_.logged_turn = end_.turn;
  end_.logged_instant_ns = end_.instant_ns;
  const bool read_only = !report.read_only.ok();
  read_only ? store_.mark_failed() : store_.mark_recovered();
  Status status = recovery_.check(store_.get(), options_.follows || read_only);
  if (!status.ok()) return status;
  if (read_only && !usable()) return report.read_only;  // a database is missing and cannot be made
  if (status = let_store_forget(); !status.ok()) return status;
  return commit_turn();
}

// Only who shares its log with others reads it while it is written.
Status Keyspace::let_store_forget() {
  const bool shares = options_.log != nullptr || options_.follows;
  return shares || store_.failed() ? Status() : store_->forget_turns();
}

// Brings the log up to memory with one record, after a time in which the store took nothing. It
// does not matter which earlier turns the log holds, since this record has the last state of every
// entry that they changed.
Status Keyspace::append_everything_owed() {
  const auto count = [this](uint64_t turn, std::string_view) {
    end_.turn = turn;
    return Status();
  };
  if (Status status = store_->replay(end_.turn + 1, count); !status.ok()) return status;
  end_.logged_turn = end_.turn;
  store_.mark_recovered();
  if (Status status = let_store_forget(); !status.ok()) return status;
  for (const auto& table : set_.tables()) {
    KeyOrder key_order = 0;
    do {
      const Segment* segment = table->segment_at(key_order);
      for (Entry* entry = segment->dirty; entry != nullptr; entry = entry->dirty_next)
        turn_.add_unchanged(entry);
      key_order = segment->last() + 1;
    } while (key_order != 0);
  }
  reclaimer_.owe();
  set_.mark_all_changed();
  if (Status status = commit_turn(true); !status.ok()) return status;
  return store_.failed() ? Status::failed("the log takes no records yet") : Status();
}

void Keyspace::visit_system(
    std::string_view prefix,
    const std::function<void(std::string_view key, std::string_view value)>& visit) const {
  visit_entries(set_.system_table(), prefix, visit);
}

uint64_t Keyspace::scan(int database, uint64_t cursor, size_t count,
                        const std::function<void(const Seen&)>& visit) {
  uint64_t next = 0;
  const Walk walk{.cursor = cursor, .count = count, .now_ms = turn_.now_ms()};
  const auto live = [&](const Seen& seen) {
    if (!seen.expired) visit(seen);
  };
  Status status = walk_records(set_.table(database), store_.get(), walk, &next, live);
  if (!status.ok()) turn_.fail_to_read(std::move(status));
  return next;
}

Status Keyspace::commit_turn(bool keep_on_failure) {
  TurnLog* log = options_.log != nullptr ? options_.log : store_.get();
  return commit_.commit(log, &store_, &end_, keep_on_failure);
}

Status Keyspace::follow(const TurnBatch& batch) { return followed_.follow(batch); }

KeyspaceMetrics Keyspace::metrics() const {
  KeyspaceMetrics metrics{.turn = end_.turn,
                          .instant_ns = end_.instant_ns,
                          .written_back_turn = write_back_.written_back_turn(),
                          .unwritten = write_back_.dirty + write_back_.writing(),
                          .misses = records_.misses(),
                          .expired = records_.expired(),
                          .evicted = evictor_.evicted(),
                          .log_bytes_appended = end_.bytes_appended};
  for (const auto& table : set_.tables()) {
    metrics.entries += table->entries();
    metrics.bytes += table->bytes();
  }
  return metrics;
}

}  // namespace weir::storage
