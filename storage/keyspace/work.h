// The keyspace's work after commands, in pieces: write-back, freeing what is dead, expiry, and
// giving up memory.
//
// After each turn comes a round: what the turn has changed adds to what is owed, and pieces are
// done until nothing is owed, or until the caller says that others are to go on. Storage has no
// clock: a piece is bounded by its work units, and the caller, who has one, decides how many pieces
// are done. A work unit is one entry, segment or record looked at; units alone would hold the loop
// for as long as cold memory takes. What is given up is a write-back that keeps up whatever comes:
// where turns are long and change much it falls behind, and commands that write wait for it
// (write_back_schedule.h).
//
// Invariants
// 1. Nothing is done while the store has failed: what memory has may be all that is left.
// 2. No piece takes more than kUnitsPerPiece work units and what one more segment holds, so that
//    the loop is never held. It holds because each part counts its units, large entries as several,
//    and ends with the segment that passes the bound. Only write-back, which copies what it takes,
//    ends within a segment, too.
// 3. The parts take turns, over rounds too, so none of them starves however early rounds end.
// 4. What memory owes the disk is counted anew when a write-back has taken something, but only
//    between turns, because the bound of a turn must not change while it is in progress.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "storage/keyspace/evictor.h"
#include "storage/keyspace/write_back_schedule.h"
#include "storage/lists/reclaimer.h"
#include "storage/memtable/dirty_bytes.h"
#include "storage/memtable/turn_in_progress.h"
#include "storage/memtable/working_set.h"
#include "storage/store/store_in_use.h"

namespace weir::storage {

enum class WorkPart : uint8_t {
  kWriteBack,       // handing changes to the store's worker, and marking them clean
  kFree,            // destroying what has died: lists, their indexes, tables
  kEviction,        // removing what has expired, giving up clean entries
  kRecount,         // counting a database's keys anew
  kExpiredHeaders,  // reading headers that the store tells of
};

std::string_view name_of(WorkPart part);

class Work {
 public:
  static constexpr size_t kUnitsPerPiece = 1000;  // some 100 us when entries are cold

  Work(WriteBackSchedule* schedule, Evictor* evictor, Reclaimer* reclaimer, DirtyBytes* dirty_bytes,
       WorkingSet* set, const TurnInProgress& turn, const StoreInUse& store)
      : schedule_(*schedule),
        evictor_(*evictor),
        reclaimer_(*reclaimer),
        dirty_bytes_(*dirty_bytes),
        set_(*set),
        turn_(turn),
        store_(store) {}

  // Does a round, to be called every turn. `goes_on(part)` is asked after each piece, with the part
  // that the piece was of; a piece at least is done if any is owed.
  template <typename GoesOn>
  void step(int64_t steady_ns, GoesOn goes_on) {
    begin_round(steady_ns);
    for (auto part = piece(); part.has_value() && goes_on(*part);) part = piece();
    end_round();
  }
  // Does a round with all its pieces.
  void step(int64_t steady_ns) {
    step(steady_ns, [](WorkPart) { return true; });
  }
  // True while there is work that should go on without waiting for traffic.
  bool wanted() const;

  // True when write-back is so late that commands which change data should wait until step() has
  // caught up.
  bool overloaded() const { return schedule_.overloaded(); }
  // True when write-back is late and fails: waiting does not help, because the store has failed.
  bool stuck() const { return schedule_.stuck(); }
  // Begins a write-back now, which covers everything that is committed.
  void write_back_now() { schedule_.begin_now(); }
  bool writing_back() const { return schedule_.under_way(); }
  // The failure of the write-back that ended last.
  const Status& write_back_failure() const { return schedule_.failure(); }
  void set_active_expiry(bool on) { evictor_.set_active_expiry(on); }

 private:
  static constexpr size_t kParts = 5;

  void begin_round(int64_t steady_ns);
  // Does a piece of the part whose turn it is; null when nothing is owed in this round.
  std::optional<WorkPart> piece();
  bool piece_of(WorkPart part);
  bool free_piece();
  void end_round();

  WriteBackSchedule& schedule_;
  Evictor& evictor_;
  Reclaimer& reclaimer_;
  DirtyBytes& dirty_bytes_;
  WorkingSet& set_;
  const TurnInProgress& turn_;
  const StoreInUse& store_;
  size_t next_part_ = 0;
  size_t owed_frees_ = 0;          // work units
  bool has_written_back_ = false;  // a write-back was running when the round began
};

}  // namespace weir::storage
