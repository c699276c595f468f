// What JetStream answers, and what it means. All of it is JSON by a server that may be another than
// it seems, so nothing here trusts a size, a depth, a type or a number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace weir::storage::nats {

// No answer to a request of this package is longer: a record in base64 with what is around it.
inline constexpr size_t kAnswerBytesMax = 4 << 20;

// Numbers of the server's errors, which never change.
enum ErrorCode : int64_t {
  kAccountFull = 10002,
  kNoPeers = 10005,
  kNoMessage = 10037,
  kServersFull = 10047,
  kNameInUse = 10058,
  kNoStream = 10059,
  kWrongLastSequence = 10071,
  kNotClustered = 10074,
  kBusySubject = 10164,  // a condition on a subject on which a message is under way
};

// Why an answer is none that was hoped for.
struct Problem {
  int64_t code = 0;  // 0: it is no answer that is understood
  std::string text;  // one line
};

// A message was stored, or had been stored before under the same id.
struct Stored {
  uint64_t sequence = 0;
  bool is_duplicate = false;
};
// `stream` is the one that the message was for.
Result<Stored, Problem> stored(std::string_view answer, std::string_view stream);

struct Message {
  uint64_t sequence = 0;
  std::string subject;
  std::string headers;  // as the protocol carries them
  std::string data;
  int64_t time_ns = 0;  // of the server's clock, since 1970; 0: it is not told
};
Result<Message, Problem> message(std::string_view answer);

// The value of a header; empty if there is none.
std::string_view header(std::string_view headers, std::string_view name);

struct StreamInfo {
  std::string version;    // of the server that leads the stream; empty: older than 2.11
  uint64_t replicas = 1;  // that it is to have
  uint64_t copies = 1;    // on servers that the leader has heard of within ten seconds, its own too
  uint64_t last_sequence = 0;
  int64_t now_ns = 0;       // the server's clock, since 1970
  std::string unlike_ours;  // a setting that is not as --new-shard makes it, with its value
};
Result<StreamInfo, Problem> stream_info(std::string_view answer);

// To what has no answer but that it was done.
Result<void, Problem> done(std::string_view answer);

}  // namespace weir::storage::nats
