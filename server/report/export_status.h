// How the export of metrics and spans over OTLP fares (otlp/exporter.h), for INFO.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::server {

enum class ExportState : uint8_t { kOff, kStarting, kOk, kFailing };

constexpr std::string_view export_state_name(ExportState state) {
  switch (state) {
    case ExportState::kOff:
      return "off";
    case ExportState::kStarting:
      return "starting";
    case ExportState::kOk:
      return "ok";
    case ExportState::kFailing:
      return "failing";
  }
  return "";
}

struct ExportStatus {
  ExportState metrics = ExportState::kOff;
  ExportState spans = ExportState::kOff;
  std::string error;        // of the last that failed; empty: all works
  uint64_t requests = 0;    // that a collector has taken
  uint64_t failed = 0;      // that it has not
  uint64_t spans_sent = 0;  // in those that were taken

  // As CONFIG RESETSTAT does it.
  void reset_counts() { requests = failed = spans_sent = 0; }
};

}  // namespace weir::server
