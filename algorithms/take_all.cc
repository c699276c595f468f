#include "algorithms/take_all.h"

#include <algorithm>

#include "base/check.h"

namespace weir::algorithms {
namespace {

// Tells whether a's verdict, rather than b's, speaks for the request.
bool decides(const Verdict& a, const Verdict& b) {
  if (a.allowed != b.allowed) return !a.allowed;
  return a.allowed ? a.remaining < b.remaining : a.retry_after_ns > b.retry_after_ns;
}

Request request_of(const Guard& guard, const AllRequest& request, int64_t cost) {
  return {.now_ns = request.now_ns,
          .cost = cost,
          .force = request.force,
          .entries = guard.entries,
          .lease_id = request.lease_id,
          .wall = request.wall};
}

Verdict ask(const Guard& guard, const AllRequest& request, int64_t cost) {
  State copy = *guard.state;
  Request question = request_of(guard, request, cost);
  question.peek = true;
  return decide(*guard.limit, copy, question);
}

// Answers the most permits that every limit has, at most the cost.
int64_t most_of_all(std::span<const Guard> guards, const AllRequest& request) {
  int64_t most = guards[0].cost;
  for (const Guard& guard : guards) {
    WEIR_REQUIRE(guard.cost == guards[0].cost);
    if (guard.limit->algorithm->any_cost) continue;
    most = std::min(most, ask(guard, request, 0).remaining);
  }
  return most;
}

bool ask_all(std::span<Guard> guards, const AllRequest& request) {
  bool allowed = true;
  for (Guard& guard : guards) {
    guard.verdict = ask(guard, request, guard.cost);
    allowed = allowed && guard.verdict.allowed;
  }
  if (allowed) return true;
  for (Guard& guard : guards) {
    if (guard.verdict.allowed) guard.verdict = ask(guard, request, 0);
  }
  return false;
}

// A cost of 0 is charged too, because an algorithm then tells that a first look has to be written.
// A request that can never be granted makes no key.
void charge(Guard& guard, const AllRequest& request, bool allowed) {
  if (allowed) {
    guard.verdict = decide(*guard.limit, *guard.state, request_of(guard, request, guard.cost));
  } else if (guard.verdict.retry_after_ns != kNever) {
    const Request nothing = request_of(guard, request, 0);
    guard.verdict.changed = decide(*guard.limit, *guard.state, nothing).changed;
  }
}

}  // namespace

AllVerdict take_all(std::span<Guard> guards, const AllRequest& request) {
  WEIR_REQUIRE(!guards.empty());
  AllVerdict all;
  if (request.upto) {
    all.granted = most_of_all(guards, request);
    const int64_t asked = guards[0].cost;
    for (Guard& guard : guards) guard.cost = std::max(all.granted, std::min<int64_t>(asked, 1));
  }
  all.allowed = ask_all(guards, request);
  if (!all.allowed) all.granted = 0;
  for (size_t i = 0; i < guards.size(); ++i) {
    if (!request.peek) charge(guards[i], request, all.allowed);
    if (decides(guards[i].verdict, guards[all.deciding].verdict)) all.deciding = i;
  }
  return all;
}

}  // namespace weir::algorithms
