// What one request asks of /v1/: a question, or several in a batch, and what they are answered.
//
//     {"requests": [{"take": {"key": "a", "policy": "api"}}, {"settle": {...}}]}
//     {"answers": [{"status": 200, "body": {...}}, {"status": 409, "body": {...}}]}
//
// A batch is read as a whole before any of it runs, so that a wrong member takes nothing. Then each
// has its own verdict, its own error, and the rights of its own command.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "server/http/format/json.h"
#include "server/http/format/message.h"
#include "server/http/v1/endpoint.h"

namespace weir::server::http {

inline constexpr size_t kBatchMax = 100;  // questions

class Calls {
 public:
  using Words = std::vector<std::string>;

  // Tells whether there is such a path.
  static bool has(std::string_view path);

  // Reads what a path is asked for. The trace (format/trace_field.h) is for the commands that take
  // one. REQUIRES: has(path).
  Result<void, Fault> read(std::string_view path, std::string_view body,
                           const std::optional<std::string>& trace = {});
  // How many commands there are.
  size_t count() const { return rows_.size(); }
  // Hands over the commands, in the order in which they are to run.
  std::vector<Words> take_commands() { return std::exchange(commands_, {}); }
  // Whether the command may wait for its turn.
  bool waits() const { return rows_.size() == 1 && rows_.front()->waits; }
  // Takes the reply to the next command, in RESP3; answers whether it was the last.
  bool take_reply(std::string_view reply);
  // What is to be sent. REQUIRES: all replies are there.
  Answer take_answer();

  size_t memory_bytes() const;

 private:
  Result<void, Fault> read_batch(const Json& body);
  Result<void, Fault> add(const Endpoint& row, const Json& body, std::string_view at);
  void add_answer(Answer answer);

  bool is_batch_ = false;
  std::optional<std::string> trace_;
  std::vector<const Endpoint*> rows_;
  std::vector<Words> commands_;
  size_t answered_ = 0;
  Answer answer_;  // of a batch: the body as far as it goes
};

}  // namespace weir::server::http
