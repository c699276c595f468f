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

// Calls `visit` with each guard of a mode, and its index.
template <typename Visit>
void each_of(std::span<Guard> guards, Mode mode, const Visit& visit) {
  for (size_t i = 0; i < guards.size(); ++i) {
    if (guards[i].mode == mode) visit(guards[i], i);
  }
}

// Answers the most permits that every limit has, at most the cost.
int64_t most_of_all(std::span<Guard> guards, Mode mode, const AllRequest& request) {
  int64_t most = kNever;
  std::optional<int64_t> asked;
  each_of(guards, mode, [&](const Guard& guard, size_t) {
    WEIR_REQUIRE(guard.cost == asked.value_or(guard.cost));
    asked = guard.cost;
    if (!guard.limit->algorithm->any_cost) most = std::min(most, ask(guard, request, 0).remaining);
  });
  return std::min(most, *asked);
}

bool ask_all(std::span<Guard> guards, Mode mode, const AllRequest& request) {
  bool allowed = true;
  each_of(guards, mode, [&](Guard& guard, size_t) {
    guard.verdict = ask(guard, request, guard.cost);
    allowed = allowed && guard.verdict.allowed;
  });
  if (allowed) return true;
  each_of(guards, mode, [&](Guard& guard, size_t) {
    if (guard.verdict.allowed) guard.verdict = ask(guard, request, 0);
  });
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

// Takes from the guards of one mode, of which there is one.
AllVerdict take_mode(std::span<Guard> guards, Mode mode, const AllRequest& request) {
  AllVerdict all;
  if (request.upto) {
    all.granted = most_of_all(guards, mode, request);
    each_of(guards, mode, [&](Guard& guard, size_t) {
      guard.cost = std::max(all.granted, std::min<int64_t>(guard.cost, 1));
    });
  }
  all.allowed = ask_all(guards, mode, request);
  if (!all.allowed) all.granted = 0;
  const Guard* deciding = nullptr;
  each_of(guards, mode, [&](Guard& guard, size_t i) {
    if (!request.peek) charge(guard, request, all.allowed);
    show_debt(*guard.limit, *guard.state, request_of(guard, request, 0), guard.verdict);
    if (deciding != nullptr && !decides(guard.verdict, deciding->verdict)) return;
    deciding = &guard;
    all.deciding = i;
  });
  return all;
}

// Asks those in shadow for what the enforced ones have granted.
void take_after(std::span<Guard> guards, AllRequest request, AllVerdict* all) {
  each_of(guards, Mode::kShadow, [&](Guard& guard, size_t) {
    if (!all->allowed) guard.cost = 0;
    if (all->allowed && request.upto) guard.cost = all->granted;
  });
  request.upto = false;
  request.peek = request.peek || !all->allowed;
  const AllVerdict shadow = take_mode(guards, Mode::kShadow, request);
  if (shadow.allowed) return;
  if (all->allowed) all->shadow_denier = shadow.deciding;
  each_of(guards, Mode::kShadow, [](Guard& guard, size_t) { guard.cost = 0; });
}

}  // namespace

AllVerdict take_all(std::span<Guard> guards, const AllRequest& request) {
  WEIR_REQUIRE(!guards.empty());
  const auto is_enforced = [](const Guard& guard) { return guard.mode == Mode::kEnforced; };
  const auto enforced = std::count_if(guards.begin(), guards.end(), is_enforced);
  if (enforced == 0) return take_mode(guards, Mode::kShadow, request);
  AllVerdict all = take_mode(guards, Mode::kEnforced, request);
  if (static_cast<size_t>(enforced) < guards.size()) take_after(guards, request, &all);
  return all;
}

}  // namespace weir::algorithms
