#include "storage/keyspace/work.h"

#include <algorithm>
#include <utility>

namespace weir::storage {
namespace {

constexpr size_t kFreesPerTurn = 4000;
constexpr size_t kFreesPerTurnMax = 20'000;
constexpr size_t kFreesPerChange = 8;

}  // namespace

std::string_view name_of(WorkPart part) {
  switch (part) {
    case WorkPart::kWriteBack:
      return "write-back";
    case WorkPart::kFree:
      return "free";
    case WorkPart::kEviction:
      return "eviction";
    case WorkPart::kRecount:
      return "recount";
    case WorkPart::kExpiredHeaders:
      return "expired-headers";
  }
  return "";
}

void Work::begin_round(int64_t steady_ns) {
  if (store_.failed()) return;
  has_written_back_ = schedule_.running();
  if (!has_written_back_) set_.retired().release();
  owed_frees_ =
      std::clamp(schedule_.changed_last_turn() * kFreesPerChange, kFreesPerTurn, kFreesPerTurnMax);
  schedule_.begin_round(steady_ns);
  evictor_.begin_round(steady_ns);
}

std::optional<WorkPart> Work::piece() {
  if (store_.failed()) return {};
  for (size_t asked = 0; asked < kParts; ++asked) {
    const auto part = static_cast<WorkPart>(std::exchange(next_part_, (next_part_ + 1) % kParts));
    if (piece_of(part)) return part;
  }
  return {};
}

bool Work::piece_of(WorkPart part) {
  switch (part) {
    case WorkPart::kWriteBack:
      return schedule_.piece(kUnitsPerPiece);
    case WorkPart::kFree:
      return free_piece();
    case WorkPart::kEviction:
      return evictor_.scan_piece(kUnitsPerPiece);
    case WorkPart::kRecount:
      return evictor_.recount_piece(store_.get());
    case WorkPart::kExpiredHeaders:
      return evictor_.headers_piece(store_.get());
  }
  return false;
}

// What a write-back may point to waits for its end.
bool Work::free_piece() {
  if (owed_frees_ == 0) return false;
  const size_t units = std::min(kUnitsPerPiece, owed_frees_);
  size_t spent = 0;
  if (reclaimer_.indexes_wait()) {
    spent = reclaimer_.shrink_closed(units);
  } else if (!schedule_.running() && reclaimer_.lists_wait()) {
    spent = reclaimer_.reclaim_some(units);
  } else if (set_.retired().any_released()) {
    set_.retired().destroy(units);
    spent = units;
  }
  owed_frees_ -= std::min(owed_frees_, spent);
  return spent > 0;
}

void Work::end_round() {
  if (store_.failed() || turn_.has_changes()) return;
  const bool late = schedule_.overloaded();
  const bool changes = late != dirty_bytes_.late();
  dirty_bytes_.set_late(late);
  if (has_written_back_ || schedule_.running() || changes) dirty_bytes_.begin_turn();
}

bool Work::wanted() const {
  if (schedule_.wants_work()) return true;
  if (store_.failed()) return false;
  return set_.retired().any_released() || (!schedule_.running() && evictor_.wants_work());
}

}  // namespace weir::storage
