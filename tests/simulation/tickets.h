// Two clients in the queue of a limiter, each with a ticket (RL.ACQUIRE with ID), beside the
// clients that the model knows: in a database of their own, on a key that is used up.
//
// When a reply has told a third one that both stand there, they have these places after a crash as
// well: they ask again, the later one first, and the earlier one is granted what comes back first.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "resp/value.h"
#include "server/core/run/server.h"
#include "tests/simulation/request_maker.h"

namespace weir::simulation {

inline constexpr int kTicketDatabase = kDatabases;  // which the model does not look at

class Tickets {
 public:
  // Goes on by a step: they come, one after the other, and the third one looks.
  void advance(server::Server& server);
  // All sessions are gone with their server. Looks at the places in the new one, unless what was
  // told may be lost; `turn` ends a turn, and time passes.
  void check_after_crash(server::Server& server, bool may_lose, const std::function<void()>& turn);
  // The most records that they have left on the disk.
  size_t records_max() const { return kRecordsOfAQueue * queues_; }
  // Somebody stands there, and is looked at again while others' commands run.
  bool anybody_waits() const { return stage_ >= Stage::kFirst; }
  uint64_t queues_checked() const { return queues_checked_; }

 private:
  static constexpr size_t kRecordsOfAQueue = 4;

  struct Line {
    server::Session* session = nullptr;
    std::string received = {};
    std::vector<resp::Value> replies = {};
  };
  enum class Stage { kNobody, kTaken, kFirst, kSecond, kKnown };

  std::string key() const { return "tk:" + std::to_string(queues_); }
  void open(server::Server& server, Line* line);
  void say(Line* line, const std::vector<std::string>& words);
  void stand(server::Server& server, Line* line, const std::string& id);
  // Takes what has come; false if the connection ends.
  bool read(Line* line);
  // Answers how many wait, as the last reply said; -1 if none has come.
  int64_t seen_waiting(Line* line);
  void leave(server::Server& server);

  Line watcher_, first_, second_;
  Stage stage_ = Stage::kNobody;
  int64_t known_ns_ = 0;
  size_t queues_ = 0;
  uint64_t queues_checked_ = 0;
};

}  // namespace weir::simulation
