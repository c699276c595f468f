// When a member asks another shard, and which of its members. Pure: instants are arguments, of one
// clock that never runs back.
//
// The primary that is known is asked every kEveryNs. While nobody of the shard says that it serves,
// its members are asked in turn, every kSearchNs; one that is not there costs no more than the next
// turn, one that is silent as long as a question may take. A shard whose members are all to be
// heard, as the own one, is asked in turn always.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time_units.h"

namespace weir::server {

class AskPlan {
 public:
  static constexpr int64_t kEveryNs = 500 * kNsPerMs;
  static constexpr int64_t kSearchNs = 100 * kNsPerMs;
  // How long a member may be silent before the next is asked.
  static constexpr int64_t kSilenceNs = 500 * kNsPerMs;

  enum class Wants { kThePrimary, kAll };

  explicit AskPlan(Wants wants, int64_t every_ns = kEveryNs) : wants_(wants), every_ns_(every_ns) {}

  // Whom to ask now, of those that are known, the primary first; nothing: it is not time, or a
  // question is on its way. Who is answered counts as asked.
  std::optional<std::string> next(const std::vector<std::string>& addresses, int64_t now_ns);
  // What became of the question.
  void answered(bool serves, int64_t now_ns);
  void failed(int64_t now_ns);
  // All members are to be asked one after another, at once.
  void ask_all();
  // When next() may have something, if nothing is on its way.
  int64_t next_ns() const {
    if (is_asking_) return INT64_MAX;
    return asks_all_ || at_once_ > 0 ? INT64_MIN : next_at_ns_;
  }

 private:
  // The one that comes after the last that was asked.
  std::string after_last(const std::vector<std::string>& addresses) const;

  const Wants wants_;
  const int64_t every_ns_;
  bool is_asking_ = false;
  bool searches_ = false;
  size_t at_once_ = 0;  // questions that do not wait for their time
  bool asks_all_ = false;
  int64_t asked_at_ns_ = 0;
  int64_t next_at_ns_ = INT64_MIN;
  std::string last_;     // that was asked
  std::string primary_;  // that was known then
};

}  // namespace weir::server
