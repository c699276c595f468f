// Spans: requests whose trace is sampled (base/trace_parent.h), with when they ran and how long,
// until somebody takes them to send them away.
//
// It knows no clock and makes no ids. A span names the command and nothing that a client chose but
// the trace: no key and no argument.
//
// Invariant: it holds at most kMax spans of a fixed size. One more is dropped and counted, so a
// collector that is away costs no memory.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/trace_parent.h"

namespace weir::server {

struct Span {
  static constexpr size_t kTraceDigits = 32, kParentDigits = 16;

  std::array<char, kTraceDigits> trace_id = {};  // hexadecimal digits
  std::array<char, kParentDigits> parent_id = {};
  std::string_view name;  // the command's, which outlives it
  int64_t begin_unix_ns = 0;
  int64_t duration_ns = 0;
  bool failed = false;  // an error was answered
};

class Spans {
 public:
  static constexpr size_t kMax = 2048;  // as many as OpenTelemetry's batches have by default

  // Somebody wants them from now on. Before that none is kept.
  void want() { wanted_ = true; }
  bool wanted() const { return wanted_; }

  // `span` but for its ids.
  void note(const TraceParent& trace, Span span) {
    if (!wanted_ || !trace.is_sampled) return;
    if (kept_.size() == kMax) {
      ++dropped_;
      return;
    }
    trace.trace_id.copy(span.trace_id.data(), span.trace_id.size());
    trace.parent_id.copy(span.parent_id.data(), span.parent_id.size());
    kept_.push_back(span);
  }
  // Answers those that are kept, in the order of their ends, and keeps them no longer.
  std::vector<Span> take() { return std::exchange(kept_, {}); }
  bool empty() const { return kept_.empty(); }

  // Spans that were given up: for want of room here, or by who had taken them.
  uint64_t dropped() const { return dropped_; }
  void note_dropped(size_t count) { dropped_ += count; }
  void reset_dropped() { dropped_ = 0; }

 private:
  bool wanted_ = false;
  uint64_t dropped_ = 0;
  std::vector<Span> kept_;
};

}  // namespace weir::server
