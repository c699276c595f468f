#include "storage/memory/memory_log.h"

#include <algorithm>

#include "base/check.h"

namespace weir::storage {

void MemoryLog::open(OpenReport* report) {
  report->last_turn = last_turn();
  if (disk_.faults.opens_read_only)
    report->read_only = failure_ = Status::no_space("injected full disk at the opening");
  disk_.synced_turn = last_turn();
  disk_.synced_bookmarks = disk_.bookmarks;
  disk_.unsynced_bookmarks.clear();
  find_bookmarks();
}

// The size of each turn counts for the next bookmark.
void MemoryLog::find_bookmarks() {
  auto logged = disk_.log.begin();
  for (const auto& [turn, bytes] : disk_.bookmarks) {
    uint64_t since = 0;
    for (; logged != disk_.log.end() && logged->turn <= turn; ++logged)
      since += logged->record.size();
    bookmarked_.add(turn, since);
  }
}

void MemoryLog::append(uint64_t turn, std::string_view record) {
  WEIR_CHECK(disk_.log.empty() || disk_.log.back().turn + 1 == turn);
  const Fault fault = next_fault();
  if (fault != Fault::kLost) {
    bytes_ += record.size();
    disk_.log.push_back({turn, std::string(record)});
  }
  if (fault != Fault::kNone) failure_ = Status::failed("injected failure of an append");
}

MemoryLog::Fault MemoryLog::next_fault() {
  const bool lost = strikes(&disk_.faults.append_lost) || disk_.faults.disk_full;
  const bool kept = strikes(&disk_.faults.append_kept) && !lost;
  return lost ? Fault::kLost : kept ? Fault::kKept : Fault::kNone;
}

void MemoryLog::append_batch(const TurnBatch& batch) {
  WEIR_CHECK(batch.first_turn <= last_turn() + 1);
  const Fault fault = next_fault();
  if (fault != Fault::kLost) {
    uint64_t turn = batch.first_turn;
    uint64_t bytes = 0;
    for (const std::string& record : batch.turns) {
      if (turn > last_turn()) {
        bytes += record.size();
        disk_.log.push_back({turn, record});
      }
      ++turn;
    }
    bytes_ += bytes;
    put_bookmark(batch, bytes);
  }
  if (fault != Fault::kNone) failure_ = Status::failed("injected failure of an append");
}

void MemoryLog::put_bookmark(const TurnBatch& batch, uint64_t bytes) {
  const BookmarkWrite write{.newest_turn = last_turn(),
                            .first_replaced = batch.first_bookmark_replaced(),
                            .bookmark = {batch.last_turn(), std::string(batch.bookmark)}};
  apply_bookmark(write, &disk_.bookmarks);
  disk_.unsynced_bookmarks.push_back(write);
  bookmarked_.remove_from(write.first_replaced);
  bookmarked_.add(write.bookmark.turn, bytes);
}

void MemoryLog::bookmarks(std::vector<KeptBookmark>* bookmarks) const {
  for (const auto& [turn, bytes] : disk_.bookmarks) bookmarks->push_back({turn, bytes});
}

Lookup MemoryLog::kept_turn(uint64_t turn, std::string* record) const {
  if (disk_.log.empty() || turn < disk_.log.front().turn || turn > disk_.log.back().turn)
    return Lookup::kAbsent;
  *record = disk_.log[turn - disk_.log.front().turn].record;
  return Lookup::kFound;
}

Status MemoryLog::replay(
    uint64_t first,
    const std::function<Status(uint64_t turn, std::string_view record)>& visit) const {
  uint64_t expected = first;
  for (const LoggedTurn& logged : disk_.log) {
    if (logged.turn < first) continue;
    if (logged.turn != expected++)
      return Status::corrupt("the log lacks turn " + std::to_string(expected - 1));
    if (Status status = visit(logged.turn, logged.record); !status.ok()) return status;
  }
  return {};
}

uint64_t MemoryLog::last_turn() const {
  return std::max(disk_.written_back_turn, disk_.log.empty() ? 0 : disk_.log.back().turn);
}

Status MemoryLog::sync(uint64_t turn) {
  if (strikes(&disk_.faults.sync)) return Status::failed("injected failure of a sync");
  ++syncs_;
  disk_.synced_turn = std::max(disk_.synced_turn, turn);
  const auto later =
      std::find_if(disk_.unsynced_bookmarks.begin(), disk_.unsynced_bookmarks.end(),
                   [&](const BookmarkWrite& write) { return write.newest_turn > turn; });
  for (auto at = disk_.unsynced_bookmarks.begin(); at != later; ++at)
    apply_bookmark(*at, &disk_.synced_bookmarks);
  disk_.unsynced_bookmarks.erase(disk_.unsynced_bookmarks.begin(), later);
  return {};
}

void MemoryLog::drop_turns(uint64_t written_back_turn) {
  uint64_t dropped = written_back_turn;
  if (!bookmarked_.empty()) {
    dropped = bookmarked_.drop_up_to(written_back_turn, needed_turn_);
    for (auto* bookmarks : {&disk_.bookmarks, &disk_.synced_bookmarks})
      bookmarks->erase(bookmarks->begin(), bookmarks->lower_bound(dropped));
  }
  while (!disk_.log.empty() && disk_.log.front().turn <= dropped) {
    bytes_ -= std::min<uint64_t>(bytes_, disk_.log.front().record.size());
    disk_.log.pop_front();
  }
}

}  // namespace weir::storage
