// How limits are told in HTTP: the fields RateLimit-Policy and RateLimit of
// draft-ietf-httpapi-ratelimit-headers-11, lists of structured fields (RFC 9651) with an item for
// each limit, and the problem types of its section 5.
//
//     RateLimit-Policy: "api";q=100;w=60, "pool";q=5;qu="concurrent-requests"
//     RateLimit: "api";r=20;t=1, "pool";r=3
//
//     q    the count
//     w    the period in seconds; left out where that is no whole number, or where windows differ
//          in length, as those of months do
//     qu   "concurrent-requests" where permits are leases, which have no window
//     r    what is left, 0 while a debt or a ban lasts
//     t    the seconds, rounded up, in which no more than r is to be had (section 4.1.2). Left out
//          where nobody knows: a lease comes back when its holder gives it back
//     pk   the key as bytes, if it is asked for, and has at most kPartitionBytesMax
//
// An item is named by AS; else by the policy whose limit it is, or "default"; the second and all
// further ones of a name are "api-2", "api-3", so that no two are called alike, and a limit that a
// policy gets after its others renames none of them. Bytes that are no printable ASCII, '"', '\'
// and '%' are "%" and two hexadecimal digits, so nobody has to undo escapes.
//
// A problem is the body of a denial as application/problem+json (RFC 9457); its members are
// `type`, `title`, `status` and `violated-policies`, the names of the items that deny.
//
//     quota-exceeded               a limit has not enough, or a policy is BLOCKED
//     temporary-reduced-capacity   so it is, and what decides is an ADAPTIVE limit at its minimum
//     abnormal-usage-detected      a ban denies
//
// It must not know keys, requests or verdicts: it writes what it is told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/limit.h"

namespace weir::server {

inline constexpr size_t kPartitionBytesMax = 256;

// A limit as it is told.
struct ToldLimit {
  const algorithms::Limit* limit = nullptr;
  std::string_view name = {};    // by AS; empty: it has none
  std::string_view policy = {};  // whose limit it is; empty: the request's own
  std::string_view key = {};     // the partition; empty: it is not told
  int64_t remaining = 0;         // may be below 0
  int64_t more_after_ns = 0;     // as LimitRow (take/answer.h) has it; kNever: nobody knows
};

// Answers what the items are called, in the order of the limits.
std::vector<std::string> item_names(std::span<const ToldLimit> limits);
// Answers what a policy's first item is called, unless AS has given that name.
std::string item_name_of(std::string_view policy);

// The values of the fields. REQUIRES: `names` are item_names(limits); there is at least one limit,
// since a list without items is no field.
std::string rate_limit_policy_field(std::span<const ToldLimit> limits,
                                    std::span<const std::string> names);
std::string rate_limit_field(std::span<const ToldLimit> limits, std::span<const std::string> names);

// Why a request is denied.
enum class Denial : uint8_t { kQuota, kReducedCapacity, kBan };
struct ProblemType {
  std::string_view type;  // a URI
  std::string_view title;
  int64_t status;  // that the draft recommends
};
const ProblemType& problem_type(Denial denial);

}  // namespace weir::server
