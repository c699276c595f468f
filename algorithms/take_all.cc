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

using Keys = std::span<KeyGuards>;

Request request_of(const Guard& guard, const AllRequest& request, int64_t cost) {
  return {.now_ns = request.now_ns,
          .cost = cost,
          .force = request.force,
          .entries = guard.entries,
          .wall = request.wall};
}

Verdict ask(const Guard& guard, const AllRequest& request, int64_t cost) {
  State copy = *guard.state;
  Request question = request_of(guard, request, cost);
  question.peek = true;
  return decide(*guard.limit, copy, question);
}

// Asks for the cost. Where the state is all there is, a copy of it is charged at once.
void try_charge(Guard& guard, const AllRequest& request) {
  guard.charged = *guard.state;
  Request question = request_of(guard, request, guard.cost);
  question.peek = request.peek || guard.limit->algorithm->uses_entries;
  guard.verdict = decide(*guard.limit, guard.charged, question);
}

// Calls `visit` with each guard of a mode, and its key.
template <typename Visit>
void each_of(Keys keys, Mode mode, const Visit& visit) {
  for (KeyGuards& key : keys) {
    for (Guard& guard : key.guards) {
      if (guard.mode == mode) visit(guard, key);
    }
  }
}

bool has_enforced(std::span<const Guard> guards) {
  return std::ranges::any_of(guards,
                             [](const Guard& guard) { return guard.mode == Mode::kEnforced; });
}

bool has_shadow(std::span<const Guard> guards) {
  return std::ranges::any_of(guards,
                             [](const Guard& guard) { return guard.mode == Mode::kShadow; });
}

// Answers the most permits that every limit has, at most the cost.
int64_t most_of_all(Keys keys, Mode mode, const AllRequest& request) {
  int64_t most = kNever;
  std::optional<int64_t> asked;
  each_of(keys, mode, [&](const Guard& guard, const KeyGuards&) {
    WEIR_REQUIRE(guard.cost == asked.value_or(guard.cost));
    asked = guard.cost;
    if (!guard.limit->algorithm->any_cost) most = std::min(most, ask(guard, request, 0).remaining);
  });
  return std::min(most, *asked);
}

bool ask_all(Keys keys, Mode mode, const AllRequest& request) {
  bool allowed = !request.refused;
  each_of(keys, mode, [&](Guard& guard, const KeyGuards&) {
    try_charge(guard, request);
    allowed = allowed && guard.verdict.allowed;
  });
  if (allowed) return true;
  each_of(keys, mode, [&](Guard& guard, const KeyGuards&) {
    if (guard.verdict.allowed) guard.verdict = ask(guard, request, 0);
  });
  return false;
}

// A cost of 0 is charged too, because an algorithm then tells that a first look has to be written.
// A request that can never be granted makes no key.
void charge(Guard& guard, const KeyGuards& key, const AllRequest& request, bool allowed) {
  if (allowed && !guard.limit->algorithm->uses_entries) {
    *guard.state = guard.charged;
  } else if (allowed) {
    Request charged = request_of(guard, request, guard.cost);
    charged.lease_id = key.lease_id;
    guard.verdict = decide(*guard.limit, *guard.state, charged);
  } else if (guard.verdict.retry_after_ns != kNever) {
    const Request nothing = request_of(guard, request, 0);
    guard.verdict.changed = decide(*guard.limit, *guard.state, nothing).changed;
  }
}

// What the guards of one mode, of which there is one, say of their key.
AllVerdict verdict_of(std::span<const Guard> guards, Mode mode) {
  AllVerdict all{.allowed = true};
  const Guard* deciding = nullptr;
  for (size_t i = 0; i < guards.size(); ++i) {
    const Guard& guard = guards[i];
    if (guard.mode != mode) continue;
    all.allowed = all.allowed && guard.verdict.allowed;
    if (deciding != nullptr && !decides(guard.verdict, deciding->verdict)) continue;
    deciding = &guard;
    all.deciding = i;
  }
  return all;
}

// Takes from the guards of one mode, of all keys or of none.
Taken take_mode(Keys keys, Mode mode, const AllRequest& request) {
  Taken taken;
  if (request.upto) {
    const int64_t most = most_of_all(keys, mode, request);
    taken.granted = most;
    each_of(keys, mode, [&](Guard& guard, const KeyGuards&) {
      guard.cost = std::max(most, std::min<int64_t>(guard.cost, 1));
    });
  }
  taken.allowed = ask_all(keys, mode, request);
  if (!taken.allowed && request.upto) taken.granted = 0;
  each_of(keys, mode, [&](Guard& guard, const KeyGuards& key) {
    if (!request.peek) charge(guard, key, request, taken.allowed);
    show_debt(*guard.limit, *guard.state, request_of(guard, request, 0), guard.verdict);
  });
  return taken;
}

// Writes down what the guards of one mode say of a key that was taken from with others.
void conclude(KeyGuards& key, Mode mode, const Taken& taken) {
  key.verdict = verdict_of(key.guards, mode);
  key.verdict.granted = taken.granted.value_or(0);
  if (taken.allowed || !key.verdict.allowed) return;
  for (Guard& guard : key.guards) guard.cost = 0;  // as it was asked at last
}

// Asks those in shadow for what the enforced ones have granted.
void take_after(KeyGuards& key, AllRequest request, const Taken& taken) {
  for (Guard& guard : key.guards) {
    if (guard.mode != Mode::kShadow) continue;
    if (!taken.allowed) guard.cost = 0;
    if (taken.allowed && request.upto) guard.cost = *taken.granted;
  }
  request.upto = false;
  request.peek = request.peek || !taken.allowed;
  if (take_mode({&key, 1}, Mode::kShadow, request).allowed) return;
  if (taken.allowed) key.verdict.shadow_denier = verdict_of(key.guards, Mode::kShadow).deciding;
  for (Guard& guard : key.guards) {
    if (guard.mode == Mode::kShadow) guard.cost = 0;
  }
}

// Takes from a key without enforced limits. `others`: what the enforced limits of other keys say;
// null: there are none.
void take_alone(KeyGuards& key, AllRequest request, const Taken* others) {
  if (others != nullptr) {
    request.refused = request.refused || !others->allowed;
    if (request.upto) {
      for (Guard& guard : key.guards) guard.cost = *others->granted;
    }
    request.upto = false;
  }
  conclude(key, Mode::kShadow, take_mode({&key, 1}, Mode::kShadow, request));
}

}  // namespace

Taken take_all(std::span<KeyGuards> keys, const AllRequest& request) {
  const bool enforced =
      std::ranges::any_of(keys, [](const KeyGuards& key) { return has_enforced(key.guards); });
  Taken taken{.allowed = !request.refused};
  if (enforced) taken = take_mode(keys, Mode::kEnforced, request);
  for (KeyGuards& key : keys) {
    WEIR_REQUIRE(!key.guards.empty());
    if (!has_enforced(key.guards)) {
      take_alone(key, request, enforced ? &taken : nullptr);
      continue;
    }
    conclude(key, Mode::kEnforced, taken);
    if (has_shadow(key.guards)) take_after(key, request, taken);
  }
  return taken;
}

AllVerdict take_all(std::span<Guard> guards, const AllRequest& request) {
  KeyGuards key{.guards = guards, .lease_id = request.lease_id};
  take_all({&key, 1}, request);
  return key.verdict;
}

}  // namespace weir::algorithms
