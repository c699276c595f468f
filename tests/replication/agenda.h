// What happens when, on virtual time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace weir::storage::replication {

class Agenda {
 public:
  int64_t now_ns() const { return now_ns_; }
  // Things of one moment happen in the order in which they were put down.
  void at(int64_t at_ns, std::function<void()> run) {
    events_.push({.at_ns = std::max(at_ns, now_ns_), .number = ++number_, .run = std::move(run)});
  }
  void after(int64_t ns, std::function<void()> run) { at(now_ns_ + ns, std::move(run)); }
  bool is_empty() const { return events_.empty(); }
  int64_t next_ns() const { return events_.top().at_ns; }
  // The time of the next event comes; whoever asked for this then runs it. REQUIRES: !is_empty().
  std::function<void()> take_next() {
    const Event event = events_.top();
    events_.pop();
    now_ns_ = event.at_ns;
    return event.run;
  }
  // All until then.
  void pass(int64_t ns) {
    const int64_t until_ns = now_ns_ + ns;
    while (!is_empty() && next_ns() <= until_ns) take_next()();
    now_ns_ = until_ns;
  }

 private:
  struct Event {
    int64_t at_ns = 0;
    uint64_t number = 0;
    std::function<void()> run;
    bool operator<(const Event& other) const {
      return at_ns != other.at_ns ? at_ns > other.at_ns : number > other.number;
    }
  };

  std::priority_queue<Event> events_;
  uint64_t number_ = 0;
  int64_t now_ns_ = 0;
};

}  // namespace weir::storage::replication
