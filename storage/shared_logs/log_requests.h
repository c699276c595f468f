// What was asked of a shared log on a server and is not answered yet: requests that wait for the
// connection, each until its deadline, and answers that are told at the end of a tick.
//
// Invariants
// 1. Each request that is taken in is answered once, and from deliver() alone: never from inside a
//    call of the log.
// 2. A wait begins at the first note_time() after it: no clock is read here, so it is not known
//    when a request was asked.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "storage/replication/shared_log.h"

namespace weir::storage {

struct AppendRequest {
  std::optional<replication::Head> expected;
  std::string record;  // until it is sent
  uint64_t crc = 0;
  std::function<void(replication::Appended)> answer;
};

struct ReadRequest {
  replication::Head after;
  size_t bytes_max = 0;
  bool is_second = false;  // what was read first was damaged
  std::function<void(replication::Read)> answer;
};

struct LogRequest {
  std::variant<AppendRequest, ReadRequest> what;
  int64_t allowed_ns = 0;              // how long it may wait
  std::optional<int64_t> deadline_ns;  // of the wait, once its time has begun

  AppendRequest* append() { return std::get_if<AppendRequest>(&what); }
  ReadRequest* read() { return std::get_if<ReadRequest>(&what); }
};

class LogRequests {
 public:
  bool empty() const { return waiting_.empty(); }
  void push(LogRequest request) { waiting_.push_back(std::move(request)); }
  // Before all others.
  void push_front(LogRequest request) { waiting_.push_front(std::move(request)); }
  // The one that has waited longest. REQUIRES: not empty.
  LogRequest pop();

  void note_time(int64_t now_ns);
  // Gives up the requests whose time is over, which were not sent. Answers whether there were any.
  bool expire(int64_t now_ns);
  // Gives up all that wait: it is known that they wait in vain.
  void fail_waiting();
  // Of what was asked since the last note_time() the earliest that it can have.
  int64_t next_deadline() const;

  void answer(const AppendRequest& request, const replication::Appended& told);
  void answer(ReadRequest request, replication::Read told);
  // Answers that it was not done: a read has failed, and an append is refused, or its fate unknown
  // if it was sent.
  void give_up(LogRequest request, bool was_sent);
  // Tells the answers that there are. What is answered meanwhile is told the next time.
  void deliver();

 private:
  std::deque<LogRequest> waiting_;
  std::vector<std::function<void()>> answers_;
  int64_t noted_ns_ = 0;
};

}  // namespace weir::storage
