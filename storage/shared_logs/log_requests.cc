#include "storage/shared_logs/log_requests.h"

#include <algorithm>
#include <utility>

namespace weir::storage {

using replication::Appended;
using replication::Read;

LogRequest LogRequests::pop() {
  LogRequest request = std::move(waiting_.front());
  waiting_.pop_front();
  return request;
}

void LogRequests::note_time(int64_t now_ns) {
  noted_ns_ = now_ns;
  for (LogRequest& request : waiting_)
    if (!request.deadline_ns) request.deadline_ns = now_ns + request.allowed_ns;
}

bool LogRequests::expire(int64_t now_ns) {
  const size_t before = waiting_.size();
  for (size_t i = 0; i < waiting_.size();) {
    if (now_ns < waiting_[i].deadline_ns.value_or(INT64_MAX)) {
      ++i;
      continue;
    }
    give_up(std::move(waiting_[i]), false);
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return waiting_.size() < before;
}

void LogRequests::fail_waiting() {
  for (LogRequest& request : std::exchange(waiting_, {})) give_up(std::move(request), false);
}

int64_t LogRequests::next_deadline() const {
  if (!answers_.empty()) return 0;
  int64_t next = INT64_MAX;
  for (const LogRequest& request : waiting_)
    next = std::min(next, request.deadline_ns.value_or(noted_ns_ + request.allowed_ns));
  return next;
}

void LogRequests::answer(const AppendRequest& request, const Appended& told) {
  answers_.push_back([answer = request.answer, told] { answer(told); });
}

void LogRequests::answer(ReadRequest request, Read told) {
  answers_.push_back([answer = std::move(request.answer), told = std::move(told)]() mutable {
    answer(std::move(told));
  });
}

void LogRequests::give_up(LogRequest request, bool was_sent) {
  using Outcome = Appended::Outcome;
  if (const AppendRequest* append = request.append())
    return answer(*append,
                  {.outcome = was_sent ? Outcome::kUnknown : Outcome::kRefused, .head = {}});
  answer(std::move(*request.read()), Read{});
}

void LogRequests::deliver() {
  for (const auto& answer : std::exchange(answers_, {})) answer();
}

}  // namespace weir::storage
