// The requests that a session was given already parsed, in their order, each with the sink that
// takes its reply.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/heap_bytes.h"
#include "server/command/command.h"
#include "server/session/output_queue.h"

namespace weir::server {

class SubmittedRequests {
 public:
  bool empty() const { return requests_.empty(); }
  size_t count() const { return requests_.size(); }
  size_t memory_bytes() const { return memory_bytes_; }

  void add(Args args, ReplySink sink) {
    requests_.push_back({.words = {args.begin(), args.end()}, .args = {}, .sink = std::move(sink)});
    Request& added = requests_.back();
    added.args.assign(added.words.begin(), added.words.end());
    memory_bytes_ += added.memory_bytes();
  }
  Args front_args() const { return requests_.front().args; }
  ReplySink take_front_sink() { return std::exchange(requests_.front().sink, {}); }
  // Drops the first request, and answers how many bytes its arguments were.
  size_t drop_front() {
    const size_t bytes = requests_.front().bytes();
    memory_bytes_ -= requests_.front().memory_bytes();
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
    size_t memory_bytes() const {
      return tree_node_bytes<Request>() + heap_bytes(words) + heap_bytes(args);
    }
  };

  std::list<Request> requests_;
  size_t memory_bytes_ = 0;
};

}  // namespace weir::server
