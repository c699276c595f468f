// A simulated log engine: one leader and what is left of earlier ones.
//
// A record is visible as soon as it is appended, and durable later: what is not durable may be lost
// when the engine fails over. A branch is the log as one leader has it. After fail_over() the new
// leader is another branch, and the old one may go on answering those that still talk to it. The
// class knows no time: when things arrive, and whether anybody hears of them, is its caller's.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "storage/replication/shared_log.h"

namespace weir::storage::replication {

// Engines that are wrong on purpose.
struct EngineFlaws {
  bool ignores_condition = false;
  bool compares_log_indexes = false;  // in the condition and at reading
};

class SimEngine {
 public:
  explicit SimEngine(EngineFlaws flaws = {}) : flaws_(flaws), branches_(1) {}

  // kDone means visible; the caller answers it when the record is durable.
  Appended append(size_t branch, const std::optional<Head>& expected, const std::string& record);
  // Answers from a prefix of at most `visible` records.
  Read read(size_t branch, const Head& after, size_t bytes_max, size_t visible = SIZE_MAX) const;

  // Records up to this log index go, but never the last one. Answers how many went.
  size_t trim(size_t branch, size_t up_to);
  // The first `count` records of the branch are safe.
  void make_durable(size_t branch, size_t count);
  // A new leader with the first `count` records of the present one. All of them are durable. Of
  // what was trimmed it has seen what was trimmed when the log was so long, but for the newest
  // `trims_missed` times.
  void fail_over(size_t count, size_t trims_missed = 0);

  // Other bytes under the same checksum, and a record that is missing.
  void damage(size_t branch, size_t log_index) { branches_[branch].damaged = log_index; }
  void remove(size_t branch, size_t log_index) { branches_[branch].removed = log_index; }

  size_t leader() const { return branches_.size() - 1; }
  size_t size(size_t branch) const { return branches_[branch].records.size(); }
  size_t durable(size_t branch) const { return branches_[branch].durable; }
  size_t trimmed(size_t branch) const { return branches_[branch].trimmed; }
  // All of them, those that were trimmed too: what the log meant does not change.
  const std::vector<Record>& records(size_t branch) const { return branches_[branch].records; }
  // Whether a reader would find the record there.
  bool confirms(size_t branch, const Head& head) const;

 private:
  struct Trim {
    size_t records = 0;  // that there were
    size_t up_to = 0;
  };
  struct Branch {
    std::vector<Record> records;
    size_t durable = 0;
    size_t trimmed = 0;
    std::vector<Trim> trims;
    size_t damaged = 0;
    size_t removed = 0;
  };

  bool is_same(const Head& left, const Head& right) const;

  EngineFlaws flaws_;
  std::vector<Branch> branches_;
};

}  // namespace weir::storage::replication
