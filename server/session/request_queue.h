// The requests of one session. They come as bytes, which are parsed in place, and of which it keeps
// what no request has used; or as arguments, each with the sink that takes the reply.
//
//     begin(bytes)   parse() use()   parse() use() ...   end()
//
// Where parse_ahead() is called before parse(), the requests that come next are known early.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "resp/request_parser.h"
#include "server/command/command.h"
#include "server/session/input_buffer.h"
#include "server/session/requests_ahead.h"
#include "server/session/submitted_requests.h"

namespace weir::server {

class RequestQueue {
 public:
  // Takes bytes that were read. REQUIRES: they stay where they are until end(). Until then `ahead`
  // is this queue's own; null: nothing is parsed ahead.
  void begin(std::string_view bytes, RequestsAhead* ahead) {
    ahead_ = ahead;
    if (ahead_ != nullptr) ahead_->forget();
    from_kept_ = !kept_.empty();
    if (from_kept_) kept_.append(bytes, parser_.told_bytes());
    unused_ = from_kept_ ? kept_.unused() : bytes;
  }
  void submit(Args args, ReplySink sink) { submitted_.add(args, std::move(sink)); }
  bool at_end() const { return unused_.empty() && submitted_.empty(); }
  // Parses the next requests, of which `requests_max` may run, if the last ones parsed ahead are
  // used up. Answers how many they are, of which ahead() has the arguments; 0: nothing has changed.
  size_t parse_ahead(const resp::RequestLimits& limits, size_t requests_max) {
    const bool may_parse = ahead_ != nullptr && ahead_->at_end() && !parser_.in_progress();
    return may_parse ? ahead_->fill(unused_, limits, requests_max) : 0;
  }
  const RequestsAhead& ahead() const { return *ahead_; }
  // Parses the request at the front; what was received comes before what was submitted. REQUIRES:
  // !at_end().
  resp::ParseStatus parse(const resp::RequestLimits& limits) {
    if (is_submitted()) [[unlikely]] {
      args_ = submitted_.front_args();
      return resp::ParseStatus::kRequest;
    }
    if (const auto* next = ahead_ == nullptr ? nullptr : ahead_->next(limits)) {
      args_ = next->args;
      bytes_ = next->bytes;
      return resp::ParseStatus::kRequest;
    }
    const resp::ParseStatus status = parser_.parse(unused_, limits);
    args_ = parser_.args();
    bytes_ = parser_.consumed();
    return status;
  }
  Args args() const { return args_; }
  // Tells whether the request at the front was submitted. take_sink() then answers its sink, to the
  // first who asks.
  bool is_submitted() const { return unused_.empty(); }
  ReplySink take_sink() { return submitted_.take_front_sink(); }
  const std::string& error() const { return parser_.error(); }
  // Drops the request at the front, which has run, and answers how many bytes it was.
  size_t use() {
    if (is_submitted()) [[unlikely]]
      return submitted_.drop_front();
    unused_.remove_prefix(bytes_);
    return bytes_;
  }
  // Leaves the request at the front where it is, to be parsed again after the next begin().
  void put_back() { parser_.reset(); }
  // Ends the use of the bytes given to begin(), and keeps what is unused if `keep`.
  void end(bool keep) {
    if (from_kept_) {
      kept_.use(kept_.size() - unused_.size());
    } else if (keep) {
      kept_.append(unused_);
    }
    unused_ = {};
    from_kept_ = false;
    ahead_ = nullptr;
    args_ = {};
    parser_.give_back();
  }

  // The bytes that are kept.
  const InputBuffer& kept() const { return kept_; }
  const SubmittedRequests& submitted() const { return submitted_; }
  // Answers how much memory the queue holds.
  size_t memory_bytes() const {
    return kept_.capacity() + parser_.memory_bytes() + submitted_.memory_bytes();
  }
  bool keeps_any() const { return !kept_.empty() || !submitted_.empty(); }

 private:
  resp::RequestParser parser_;
  InputBuffer kept_;  // an incomplete request, or requests for a later turn
  SubmittedRequests submitted_;
  RequestsAhead* ahead_ = nullptr;  // between begin() and end()
  Args args_;
  size_t bytes_ = 0;  // of the request at the front
  std::string_view unused_;
  bool from_kept_ = false;  // unused_ is in kept_
};

}  // namespace weir::server
