// What replies to RL.* commands say when they make sense.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "algorithms/limit_text.h"
#include "base/ascii.h"
#include "resp/value.h"
#include "server/os/time_zones.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/server/structured_fields.h"

namespace weir::fuzz {

using resp::Value;

// How a request was let through that is not within its limits.
struct Beyond {
  bool shadow = false;
  bool indebted = false;  // although, or because, the key owes
  bool fixed = false;     // a policy may answer without limits
};

// A debt, which is a rest below 0, is shown to everybody and lets nobody through.
inline void check_rest(int64_t remaining, int64_t limit, bool allowed, const Beyond& beyond) {
  check(limit >= 1 && remaining <= limit);
  check(remaining >= 0 || !allowed || beyond.indebted || beyond.shadow);
}

// Checks the six integers at the front of an array.
inline void check_integers(const Value& verdict, const Beyond& beyond) {
  check(verdict.elements.size() >= 6);
  for (size_t i = 0; i < 6; ++i) check(verdict.elements[i].type == Value::Type::kInteger);
  const auto integer = [&](size_t i) { return verdict.elements[i].integer; };
  if (beyond.fixed && integer(5) == -1 && integer(1) <= 0) {
    const int64_t none = integer(1);
    check(none == -1 ? integer(0) == 1 : integer(0) == 0 || beyond.shadow);
    check(integer(2) == none && integer(3) == -1 - none && integer(4) == -1 - none);
    return;
  }
  check(integer(0) == 0 || integer(0) == 1);
  check_rest(integer(2), integer(1), integer(0) == 1, beyond);
  check(integer(3) >= -1 && integer(4) >= -1 && integer(5) >= -1);
  if (!beyond.shadow) check((integer(0) == 1) == (integer(3) == 0));
}

// The value of a name in a map that RESP2 sends as an array.
inline const Value& field(const Value& map, std::string_view name) {
  for (size_t i = 0; i + 1 < map.elements.size(); i += 2) {
    if (map.elements[i].text == name) return map.elements[i + 1];
  }
  std::abort();
}

// Checks the fields of HTTP, if there are any: a strict parser takes them.
inline void check_headers(const Value& full) {
  for (size_t i = 0; i + 1 < full.elements.size(); i += 2) {
    if (full.elements[i].text != "headers") continue;
    const auto& fields = full.elements[i + 1].elements;
    for (size_t at = 0; at + 1 < fields.size(); at += 2) {
      if (!fields[at].text.starts_with("RateLimit")) continue;
      check(server::read_rate_limit(fields[at + 1].text).has_value());
    }
  }
}

// Checks the map of FULL.
inline void check_full(const Value& full, const Beyond& beyond) {
  const int64_t allowed = field(full, "allowed").integer;
  const int64_t retry_ms = field(full, "retry_ms").integer;
  check(allowed == 0 || allowed == 1);
  check(retry_ms >= -1 && field(full, "granted").integer >= 0);
  if (!beyond.shadow) check((allowed == 1) == (retry_ms == 0));
  const Value& limits = field(full, "limits");
  check((!limits.elements.empty() || beyond.fixed) && limits.elements.size() <= 16);
  check_headers(full);
  for (const Value& limit : limits.elements) {
    const int64_t most = field(limit, "capacity").integer;
    check_rest(field(limit, "remaining").integer, most, allowed == 1, beyond);
    check(field(limit, "reset_ms").integer >= -1 && field(limit, "window_ms").integer >= 1);
    check(!field(limit, "name").text.empty());
  }
}

inline bool has(std::string_view request, std::string_view word) {
  return request.find(word) != request.npos;
}

// FORCE takes more than there is; BURSTY and WARMUP lend the first request its permits; while one
// waits for its turn, another may write the key's limits anew, with less than it has been granted.
inline bool may_owe(std::string_view request) {
  for (const char* word : {" FORCE", " BURSTY", " WARMUP", " COST 0", " TIMEOUT"}) {
    if (has(request, word)) return true;
  }
  return false;
}

inline void check_verdict(std::string_view request, const Value& verdict) {
  const bool by_policy = has(request, " POLICY");  // which may be in shadow, UNLIMITED or BLOCKED
  const Beyond beyond{.shadow = by_policy || has(request, " SHADOW"),
                      .indebted = may_owe(request),
                      .fixed = by_policy};
  for (const char* word : {" FULL", " HEADERS", " LEGACY", " PROBLEM"}) {
    if (has(request, word)) return check_full(verdict, beyond);
  }
  check_integers(verdict, beyond);
}

inline void check_many(std::string_view request, const Value& reply) {
  const Beyond beyond{.shadow = true, .fixed = has(request, " POLICY")};
  if (!has(request, " FULL")) {
    for (size_t i = 2; i < reply.elements.size(); ++i) check_integers(reply.elements[i], beyond);
    return;
  }
  check(field(reply, "index").integer >= -1);
  for (const Value& key : field(reply, "keys").elements) check_full(key, beyond);
}

// What is shown of a limit is read back, as the same.
inline void check_shown(std::string_view text) {
  static const server::TimeZones zones;
  const auto words = split_at_spaces(text);
  const auto read = algorithms::parse_limits(words, 0, &zones.stored());
  check(read.ok() && read->words == words.size() && read->limits.size() == 1);
  check(algorithms::format_with_ban(read->limits[0], algorithms::LimitStyle::kWhole) == text);
}

inline void check_counts(const Value& counts) {
  for (const Value& each : counts.elements) {
    check(each.elements.size() == 4);
    check(1 <= each.elements[2].integer && each.elements[2].integer <= each.elements[1].integer);
    check(each.elements[1].integer <= each.elements[3].integer);
  }
}

inline void check_info(const Value& info) {
  if (info.is_null()) return;
  for (const Value& limit : field(info, "limits").elements) {
    const int64_t most = field(limit, "limit").integer;
    const int64_t remaining = field(limit, "remaining").integer;
    check(most >= 1 && remaining <= most);
    check_shown(field(limit, "parameters").text);
  }
  for (const char* name : {"bookings", "holds", "banned_ms", "waiting"}) {
    check(field(info, name).integer >= 0);
  }
}

inline void check_reply(std::string_view request, const Value& reply) {
  if (reply.is_error() || reply.type == Value::Type::kStatus) return;  // +QUEUED
  if (request.starts_with("RL.TAKE") || request.starts_with("RL.PEEK") ||
      request.starts_with("RL.ACQUIRE")) {
    if (!reply.is_null()) check_verdict(request, reply);
  } else if (request.starts_with("RL.REFUND")) {
    if (!reply.is_null()) check_integers(reply, {.shadow = true});
  } else if (request.starts_with("RL.SETTLE")) {
    if (!reply.is_null()) check_integers(reply, {.shadow = true});
  } else if (request.starts_with("RL.MTAKE")) {
    check_many(request, reply);
  } else if (request.starts_with("RL.RESERVE")) {
    check(reply.elements.size() == 3 && reply.elements[1].integer >= -1);
  } else if (request.starts_with("RL.REPORT") || request.starts_with("RL.POLICY REPORT")) {
    check_counts(reply);
  } else if (request.starts_with("RL.INFO")) {
    check_info(reply);
  } else if (request.starts_with("RL.RELEASE") || request.starts_with("RL.CANCEL") ||
             request.starts_with("RL.RENEW") || request.starts_with("RL.RESET")) {
    check(reply.type == Value::Type::kInteger && reply.integer >= 0);
  }
}

}  // namespace weir::fuzz
