// The requests of one session: bytes that were received, parsed in place, and of them kept what no
// request has used.
//
//     begin(bytes)   parse() use()   parse() use() ...   end()
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "resp/request_parser.h"
#include "server/command/command.h"
#include "server/session/input_buffer.h"

namespace weir::server {

class RequestQueue {
 public:
  // Bytes were read; they must stay until end().
  void begin(std::string_view bytes) {
    from_kept_ = !kept_.empty();
    if (from_kept_) kept_.append(bytes);
    unused_ = from_kept_ ? kept_.unused() : bytes;
  }
  bool at_end() const { return unused_.empty(); }
  // The request at the front.
  resp::ParseStatus parse(const resp::RequestLimits& limits) {
    return parser_.parse(unused_, limits);
  }
  Args args() const { return parser_.args(); }
  const std::string& error() const { return parser_.error(); }
  // It has run...
  void use() { unused_.remove_prefix(parser_.consumed()); }
  // ... or will be parsed again.
  void put_back() { parser_.reset(); }
  // `keep`: what is unused will be asked for.
  void end(bool keep) {
    if (from_kept_) {
      kept_.use(kept_.size() - unused_.size());
    } else if (keep) {
      kept_.append(unused_);
    }
    unused_ = {};
  }

  // What is kept.
  const InputBuffer& kept() const { return kept_; }

 private:
  resp::RequestParser parser_;
  InputBuffer kept_;  // an incomplete request, or requests for a later turn
  std::string_view unused_;
  bool from_kept_ = false;  // unused_ is in kept_
};

}  // namespace weir::server
