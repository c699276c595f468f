// The turns of a shard's primary that its log has not acknowledged: how large they are, and those
// that the protocol could not take when they were made, because a rewind or a switchover was under
// way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "storage/replication/member.h"

namespace weir::server {

class UncommittedTurns {
 public:
  // A turn that follows the last one. It is sealed at once, or when seal() finds that it can be.
  void add(uint64_t turn, std::string_view record, storage::replication::Member* member) {
    sizes_.push_back({.turn = turn, .bytes = record.size()});
    bytes_ += record.size();
    if (unsealed_.empty() && member->may_seal()) return member->sealed(turn, record);
    unsealed_.push_back({.turn = turn, .record = std::string(record)});
  }
  void seal(storage::replication::Member* member) {
    for (; !unsealed_.empty() && member->may_seal(); unsealed_.pop_front())
      member->sealed(unsealed_.front().turn, unsealed_.front().record);
  }
  // All turns up to this one are in the log.
  void committed(uint64_t turn) {
    for (; !sizes_.empty() && sizes_.front().turn <= turn; sizes_.pop_front())
      bytes_ -= sizes_.front().bytes;
  }
  // A demotion.
  void clear() { *this = {}; }

  size_t bytes() const { return bytes_; }
  size_t count() const { return sizes_.size(); }

 private:
  struct Size {
    uint64_t turn;
    size_t bytes;
  };
  struct Unsealed {
    uint64_t turn;
    std::string record;
  };
  std::deque<Size> sizes_;
  std::deque<Unsealed> unsealed_;
  size_t bytes_ = 0;
};

}  // namespace weir::server
