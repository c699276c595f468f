#include "algorithms/take_all.h"

#include <cstdlib>

namespace weir::algorithms {
namespace {

// Whether a's verdict speaks for the request rather than b's.
bool decides(const Verdict& a, const Verdict& b) {
  if (a.allowed != b.allowed) return !a.allowed;
  return a.allowed ? a.remaining < b.remaining : a.retry_after_ns > b.retry_after_ns;
}

}  // namespace

AllVerdict take_all(std::span<Guard> guards, int64_t now_ns) {
  if (guards.empty()) std::abort();
  bool allowed = true;
  for (Guard& guard : guards) {
    guard.verdict = peek(*guard.limit, *guard.state, now_ns, guard.cost);
    allowed = allowed && guard.verdict.allowed;
  }
  size_t deciding = 0;
  for (size_t i = 0; i < guards.size(); ++i) {
    Guard& guard = guards[i];
    if (allowed) {
      guard.verdict = decide(*guard.limit, *guard.state, {.now_ns = now_ns, .cost = guard.cost});
    }
    if (decides(guard.verdict, guards[deciding].verdict)) deciding = i;
  }
  return {.allowed = allowed, .deciding = deciding};
}

}  // namespace weir::algorithms
