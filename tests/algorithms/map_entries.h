// Entries in two std containers: obviously right, for tests.
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "algorithms/entries.h"

namespace weir::algorithms::testing {

class MapEntries : public Entries {
 public:
  size_t size() const override { return ordered_.size(); }
  LogEntry entry(size_t rank) const override { return ordered_.at(rank); }
  std::optional<LogEntry> find(int64_t id) const override {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? std::nullopt : std::optional(found->second);
  }
  size_t lower_bound(int64_t at_ns) const override {
    const auto before = [](const LogEntry& entry, int64_t at) { return entry.at_ns < at; };
    return size_t(std::lower_bound(ordered_.begin(), ordered_.end(), at_ns, before) -
                  ordered_.begin());
  }
  void put(const LogEntry& entry) override {
    erase(entry.id);
    by_id_[entry.id] = entry;
    ordered_.insert(place(entry), entry);
    ++changes;
  }
  void erase(int64_t id) override {
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) return;
    ordered_.erase(place(found->second));
    by_id_.erase(found);
    ++changes;
  }

  std::string text() const {
    std::string out;
    for (const LogEntry& each : ordered_) {
      out += " " + std::to_string(each.id) + "@" + std::to_string(each.at_ns) + ":" +
             std::to_string(each.permits);
    }
    return out;
  }

  int64_t changes = 0;

 private:
  std::vector<LogEntry>::iterator place(const LogEntry& entry) {
    const auto before = [](const LogEntry& a, const LogEntry& b) {
      return a.at_ns != b.at_ns ? a.at_ns < b.at_ns : a.id < b.id;
    };
    return std::lower_bound(ordered_.begin(), ordered_.end(), entry, before);
  }

  std::map<int64_t, LogEntry> by_id_;
  std::vector<LogEntry> ordered_;
};

}  // namespace weir::algorithms::testing
