// A member's local log on a simulated disk: a list of writes, of which a power cut loses a suffix.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "storage/replication/port.h"

namespace weir::storage::replication {

class Disk : public LocalTurns {
 public:
  // With `torn`, each turn is a write of its own, with the record's stamp: a wrong local log.
  void write(const Batch& batch, bool torn);
  void restamp(const Stamp& stamp);
  void sync() { synced_ = writes_.size(); }
  // Loses up to `count` of the newest writes that are not synced.
  void cut_power(size_t count);

  uint64_t newest_turn() const override { return turns_.empty() ? 0 : turns_.rbegin()->first; }
  std::optional<std::string> turn(uint64_t turn) const override;
  std::vector<Stamp> stamps() const override;
  const std::map<uint64_t, std::string>& turns() const { return turns_; }
  size_t unsynced() const { return writes_.size() - synced_; }

 private:
  struct Write {
    uint64_t first_turn = 0;
    std::vector<std::string> turns;  // none: only the stamp
    Stamp stamp;
  };

  void apply(const Write& write);

  std::vector<Write> writes_;
  size_t synced_ = 0;
  std::map<uint64_t, std::string> turns_;
  std::map<uint64_t, Stamp> stamps_;  // by the turn they cover
};

}  // namespace weir::storage::replication
