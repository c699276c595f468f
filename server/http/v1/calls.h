// What one request asks of /v1/: a question, or several in a batch, and what they are answered.
//
//     {"requests": [{"take": {"key": "a", "policy": "api"}}, {"settle": {...}}]}
//     {"answers": [{"status": 200, "body": {...}}, {"status": 409, "body": {...}}]}
//
// A batch is read as a whole before any of it runs, so that a wrong word takes nothing. Then each
// has its own verdict, its own error, and the rights of its own command.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/http/format/json.h"
#include "server/http/format/message.h"
#include "server/http/v1/endpoint.h"

namespace weir::server::http {

inline constexpr size_t kBatchMax = 100;                 // questions
inline constexpr size_t kBatchAnswerBytesMax = 8 << 20;  // those past it are errors

class Calls {
 public:
  using Words = std::vector<std::string>;

  // Tells whether there is such a path.
  static bool has(std::string_view path);

  // Reads what a path is asked for. REQUIRES: has(path).
  Result<void, Fault> read(std::string_view path, std::string_view body);
  // The commands, in the order in which they are to run.
  const std::vector<Words>& commands() const { return commands_; }
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
  std::vector<const Endpoint*> rows_;
  std::vector<Words> commands_;
  size_t answered_ = 0;
  Answer answer_;  // of a batch: the body as far as it goes
};

}  // namespace weir::server::http
