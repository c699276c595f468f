// A member's directory on a simulated disk: state files up to a turn, and a local log as a list of
// writes, of which a power cut loses a suffix that was not synced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "storage/replication/member_actions.h"
#include "tests/replication/limits.h"

namespace weir::storage::replication {

// What the turns so far make: a checksum of them, and what is left of the limits.
struct State {
  uint64_t sum = 0;
  Limits limits;
};

// State files: everything up to the turn of a bookmark.
struct Base {
  LogBookmark bookmark;
  uint64_t turn = 0;
  State state;
  int64_t newest_instant_ns = 0;
};

class Disk : public LocalTurns {
 public:
  // With `torn`, each turn is a write of its own, with the record's bookmark: a wrong local log.
  void write(const Batch& batch, bool torn);
  void replace_bookmark(const LogBookmark& bookmark);
  void sync();
  // Loses up to `count` of the newest writes that are not synced.
  void cut_power(size_t count);
  // A write-back has ended: the state files hold what `base` says, and everything before is synced.
  // Turns up to `oldest` may go, as far as so many bookmarks are left, one of them before those
  // that stay.
  void write_back(const Base& base, uint64_t oldest, size_t bookmarks_kept);
  // As a checkpoint of it opens elsewhere.
  Disk checkpoint() const;

  uint64_t newest_turn() const override {
    return image_.turns.empty() ? base_.turn : image_.turns.rbegin()->first;
  }
  std::optional<std::string> turn(uint64_t turn) const override;
  std::vector<LogBookmark> bookmarks() const override;
  const Base& base() const { return base_; }
  const std::map<uint64_t, std::string>& turns() const { return image_.turns; }
  size_t unsynced() const { return unsynced_.size(); }

 private:
  struct Write {
    uint64_t first_turn = 0;
    std::vector<std::string> turns;  // none: only the bookmark
    LogBookmark bookmark;
  };
  struct Image {
    std::map<uint64_t, std::string> turns;
    std::map<uint64_t, LogBookmark> bookmarks;  // by the turn they cover

    void apply(const Write& write);
    void forget_before(const LogBookmark& bookmark);
  };

  void put(Write write);

  Base base_;
  Image synced_;
  Image image_;  // synced_ and the writes since
  std::vector<Write> unsynced_;
};

}  // namespace weir::storage::replication
