// The requests that a session was given already parsed, in their order, each with the sink that
// takes its reply.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/command/command.h"
#include "server/session/output_queue.h"

namespace weir::server {

class SubmittedRequests {
 public:
  bool empty() const { return requests_.empty(); }
  size_t count() const { return requests_.size(); }
  size_t argument_bytes() const { return argument_bytes_; }

  void add(Args args, ReplySink sink) {
    requests_.push_back({.words = {args.begin(), args.end()}, .args = {}, .sink = std::move(sink)});
    Request& added = requests_.back();
    added.args.assign(added.words.begin(), added.words.end());
    argument_bytes_ += added.bytes();
  }
  Args front_args() const { return requests_.front().args; }
  ReplySink take_front_sink() { return std::exchange(requests_.front().sink, {}); }
  // Drops the first request, and answers how many bytes its arguments were.
  size_t drop_front() {
    const size_t bytes = requests_.front().bytes();
    argument_bytes_ -= bytes;
    requests_.pop_front();
    return bytes;
  }

 private:
  struct Request {
    std::vector<std::string> words;
    std::vector<std::string_view> args;  // into `words`
    ReplySink sink;

    size_t bytes() const {
      size_t sum = 0;
      for (const std::string& word : words) sum += word.size();
      return sum;
    }
  };

  std::list<Request> requests_;
  size_t argument_bytes_ = 0;
};

}  // namespace weir::server
