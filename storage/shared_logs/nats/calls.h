// Requests that are under way on the connection, each of which is answered once: by the server, or
// by the end of its time or of the connection.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "storage/shared_logs/nats/link.h"

namespace weir::storage::nats {

struct Reply {
  enum class Kind {
    kAnswer,
    kNobody,   // nobody listens to the subject
    kExpired,  // nothing came in time
    kLost,     // the connection was given up
  };
  Kind kind = Kind::kLost;
  std::string text;  // of kAnswer
};

class Calls {
 public:
  using Then = std::function<void(const Reply&)>;

  explicit Calls(Link* link) : link_(*link) {}

  // The time counts from the next note_time() on. `then` may ask anew.
  void ask(Outgoing message, int64_t allowed_ns, Then then);
  // What came in.
  void take(const Incoming& incoming);
  // Of calls that began at an unknown time.
  void note_time(int64_t now_ns);
  enum class Expired { kNothing, kSome, kAndNothingSince };
  // Ends the calls whose time is over. kAndNothingSince: nor was any answered that was asked later.
  Expired expire(int64_t now_ns);
  void lose_all();

  bool empty() const { return pending_.empty(); }
  // Of what was asked since the last note_time() the earliest that it can have.
  int64_t next_deadline() const;

 private:
  struct Pending {
    int64_t allowed_ns = 0;
    std::optional<int64_t> deadline_ns;
    Then then;
  };

  void end(uint64_t serial, const Reply& reply);

  Link& link_;
  uint64_t serial_ = 0;
  uint64_t newest_answered_ = 0;
  int64_t noted_ns_ = 0;
  std::map<uint64_t, Pending> pending_;
};

}  // namespace weir::storage::nats
