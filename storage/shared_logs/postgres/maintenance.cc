#include "storage/shared_logs/postgres/maintenance.h"

#include <algorithm>

#include "base/time_units.h"
#include "storage/shared_logs/postgres/sql.h"

namespace weir::storage::postgres {
namespace {

constexpr int64_t kRegistryNs = 2 * kNsPerS;
constexpr int64_t kFactsNs = 30 * kNsPerS;
constexpr int64_t kBetweenPutsNs = 200 * kNsPerMs;  // a member says at once what it has become
// So long after it was due a task goes before appends and reads.
constexpr int64_t kPatienceNs = 2 * kNsPerS;
constexpr int64_t kTrimPatienceNs = 200 * kNsPerMs;

constexpr int64_t kLongTrimNs = 100 * kNsPerMs;
constexpr int64_t kShortTrimNs = 25 * kNsPerMs;
constexpr uint64_t kTrimRecordsMin = 8;
constexpr uint64_t kTrimRecordsMax = 1000;

}  // namespace

void Maintenance::put(std::string name, std::string facts, int64_t now_ns) {
  put_ns_ = now_ns;
  unwritten_[std::move(name)] = std::move(facts);
}

std::vector<replication::RegistryEntry> Maintenance::registry(int64_t now_ns) const {
  std::vector<replication::RegistryEntry> registry = registry_;
  for (replication::RegistryEntry& entry : registry)
    entry.age_ns += std::max<int64_t>(now_ns - registry_read_ns_, 0);
  return registry;
}

void Maintenance::trim(uint64_t up_to) { trim_up_to_ = std::max(trim_up_to_, up_to); }

std::optional<Statement> Maintenance::next(int64_t now_ns, bool is_idle) {
  for (const Task task : {Task::kPut, Task::kRegistry, Task::kTrim, Task::kFacts}) {
    const int64_t patience_ns = task == Task::kTrim ? kTrimPatienceNs : kPatienceNs;
    const int64_t due = due_ns(task);
    if (due == INT64_MAX || now_ns < due + (is_idle ? 0 : patience_ns)) continue;
    doing_ = task;
    begun_ns_ = now_ns;
    trimming_up_to_ = trim_up_to_;
    if (task == Task::kTrim) return postgres::trim(shard_, trim_up_to_, trim_records_);
    if (task == Task::kRegistry) return read_registry(shard_);
    if (task == Task::kFacts)
      return Statement{.sql = "select current_setting('synchronous_standby_names')",
                       .parameters = {}};
    const auto [name, facts] = *unwritten_.begin();
    unwritten_.erase(unwritten_.begin());
    return put_facts(shard_, name, facts);
  }
  return std::nullopt;
}

void Maintenance::take(const Answer& answer, int64_t now_ns) {
  const Task done = std::exchange(doing_, Task::kNone);
  done_ns_[done] = now_ns;
  const bool has_trimmed =
      done == Task::kTrim && (!answer.ok() || answer.changed_rows() < trim_records_);
  if (has_trimmed && trim_up_to_ == trimming_up_to_) trim_up_to_ = 0;
  if (!answer.ok()) {
    trouble_ = answer.failure();
    return;
  }
  if (done == Task::kRegistry) {
    auto registry = registry_read(answer);
    trouble_ = registry ? "" : "weir_board has columns of other types than weir gives it";
    if (registry) registry_ = *std::move(registry);
    registry_read_ns_ = now_ns;
  }
  if (done == Task::kFacts) copies_ = copies_of(std::string(answer.bytes(0, 0)));
  if (done != Task::kTrim) return;
  const int64_t took_ns = now_ns - begun_ns_;
  if (took_ns > kLongTrimNs) trim_records_ = std::max(trim_records_ / 2, kTrimRecordsMin);
  if (took_ns < kShortTrimNs) trim_records_ = std::min(trim_records_ * 2, kTrimRecordsMax);
}

// Facts that may not have arrived are put anew by their member soon.
void Maintenance::begin(int64_t now_ns) {
  doing_ = Task::kNone;
  since_ns_ = now_ns;
  done_ns_[Task::kFacts] = now_ns;
}

int64_t Maintenance::next_deadline() const {
  int64_t first = INT64_MAX;
  for (const Task task : {Task::kPut, Task::kRegistry, Task::kTrim, Task::kFacts})
    first = std::min(first, due_ns(task));
  return first;
}

int64_t Maintenance::due_ns(Task task) const {
  if (task == Task::kPut && unwritten_.empty()) return INT64_MAX;
  if (task == Task::kTrim && trim_up_to_ == 0) return INT64_MAX;
  const auto done = done_ns_.find(task);
  if (task == Task::kPut && done != done_ns_.end())
    return std::max(put_ns_, done->second + kBetweenPutsNs);
  if (done == done_ns_.end()) return since_ns_;
  if (task == Task::kTrim) return done->second;
  return done->second + (task == Task::kFacts ? kFactsNs : kRegistryNs);
}

}  // namespace weir::storage::postgres
