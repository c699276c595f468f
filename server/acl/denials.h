// What ACL LOG shows: requests and log-ins that were denied, the newest first; like ones are
// counted together.
//
// Invariants
// 1. No more entries are kept than the newest bound allows, however many requests are denied.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace weir::server {
class MetricWriter;
}  // namespace weir::server

namespace weir::server::acl {

enum class Reason : uint8_t { kCommand, kKey, kChannel, kAuth, kAdmin, kInline, kPolicy };
inline constexpr size_t kReasons = 7;
enum class Context : uint8_t { kTopLevel, kMulti, kLua };

// Answers "command", "toplevel" ...
std::string_view reason_name(Reason reason);
std::string_view context_name(Context context);

struct Denied {
  Reason reason = Reason::kCommand;
  Context context = Context::kTopLevel;
  // The command, key, channel or policy; for a log-in the command that tried it.
  std::string object;
  std::string user;
  std::string client;  // as CLIENT LIST shows it
  int64_t at_ms = 0;   // Unix, the last time
  // add() fills in these.
  uint64_t id = 0;
  uint64_t count = 1;
  int64_t first_at_ms = 0;
};

class Denials {
 public:
  void add(Denied denied, size_t entries_max);
  const std::deque<Denied>& entries() const { return entries_; }
  void clear() { entries_.clear(); }
  void write_metrics(MetricWriter& out) const;

 private:
  std::deque<Denied> entries_;
  std::array<uint64_t, kReasons> counts_ = {};  // since the start
  uint64_t next_id_ = 0;
};

}  // namespace weir::server::acl
