#include "server/report/latency_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "base/time_units.h"

namespace weir::server {
namespace {

using Samples = std::deque<LatencyMonitor::Sample>;

constexpr size_t kRows = 4;
constexpr std::string_view kSteps = "_o#";  // within a row, from low to high
constexpr char kFilled = '|';
constexpr size_t kRuleWidth = 80;

std::string age(int64_t seconds) {
  seconds = std::max<int64_t>(seconds, 0);
  if (seconds < kSPerMinute) return std::to_string(seconds) + "s";
  if (seconds < kSPerHour) return std::to_string(seconds / kSPerMinute) + "m";
  if (seconds < kSPerDay) return std::to_string(seconds / kSPerHour) + "h";
  return std::to_string(seconds / kSPerDay) + "d";
}

struct Range {
  int64_t low_ms = 0;
  int64_t high_ms = 0;
};

Range range_of(const Samples& samples) {
  Range range{.low_ms = samples.front().ms, .high_ms = samples.front().ms};
  for (const auto& sample : samples) {
    range.low_ms = std::min(range.low_ms, sample.ms);
    range.high_ms = std::max(range.high_ms, sample.ms);
  }
  return range;
}

// Answers 0 for the lowest sample and kRows * kSteps.size() - 1 for the highest.
size_t height(int64_t ms, const Range& range) {
  constexpr size_t kHeights = kRows * kSteps.size();
  if (range.high_ms == range.low_ms) return 0;
  const double part =
      static_cast<double>(ms - range.low_ms) / static_cast<double>(range.high_ms - range.low_ms);
  return std::min(static_cast<size_t>(part * kHeights), kHeights - 1);
}

char cell(size_t height, size_t row) {
  const size_t top = height / kSteps.size();
  if (top == row) return kSteps[height % kSteps.size()];
  return top > row ? kFilled : ' ';
}

struct Summary {
  double mean_ms = 0;
  double mean_deviation_ms = 0;
  double period_s = 0;  // the mean between one sample and the next
};

Summary summarize(const Samples& samples) {
  const auto count = static_cast<double>(samples.size());
  Summary summary;
  for (const auto& sample : samples) summary.mean_ms += static_cast<double>(sample.ms) / count;
  for (const auto& sample : samples) {
    const double away = static_cast<double>(sample.ms) - summary.mean_ms;
    summary.mean_deviation_ms += std::abs(away) / count;
  }
  const auto span_s = static_cast<double>(samples.back().unix_s - samples.front().unix_s);
  if (samples.size() > 1) summary.period_s = span_s / (count - 1);
  return summary;
}

std::string advice(const LatencyMonitor& monitor, int64_t slowlog_slower_than_us) {
  std::string text;
  const auto seen = [&](std::string_view event) { return monitor.find(event) != nullptr; };
  const int64_t threshold_us = monitor.threshold_ms() * kUsPerMs;
  if (seen("command") || seen("fast-command")) {
    text += "- SLOWLOG GET shows which commands took long; each holds up all clients.\n";
    if (slowlog_slower_than_us < 0 || slowlog_slower_than_us > threshold_us)
      text +=
          "- The slow log keeps less than is sampled here: CONFIG SET slowlog-log-slower-than " +
          std::to_string(threshold_us) + ".\n";
  }
  if (seen("commit"))
    text += "- Appending to the log took long: see what else writes to the disk of 'dir'.\n";
  if (seen("write-back"))
    text +=
        "- Handing changes to the write-back took long: with a smaller write-back-interval-ms "
        "each pass has less to do.\n";
  if (seen("requests"))
    text +=
        "- The requests of a turn took long together: keys that are not in memory have to be read "
        "from the disk of 'dir', see cold_reads of INFO and 'maxmemory'.\n";
  if (seen("turn"))
    text +=
        "- Turns took long, be it with many small commands: turn-commands-max and "
        "turn-read-bytes-max bound what one client puts into a turn.\n";
  return text;
}

}  // namespace

std::string graph_text(std::string_view name, const LatencyMonitor::Event& event,
                       int64_t now_unix_s) {
  const Range range = range_of(event.samples);
  std::string text = std::string(name) + " - high " + std::to_string(range.high_ms) + " ms, low " +
                     std::to_string(range.low_ms) + " ms (all time high " +
                     std::to_string(event.ms_max) + " ms)\n" + std::string(kRuleWidth, '-') + "\n";
  for (size_t row = kRows; row-- > 0;) {
    for (const auto& sample : event.samples) text += cell(height(sample.ms, range), row);
    text += '\n';
  }
  std::vector<std::string> ages;
  size_t rows = 0;
  for (const auto& sample : event.samples) {
    ages.push_back(age(now_unix_s - sample.unix_s));
    rows = std::max(rows, ages.back().size());
  }
  text += '\n';
  for (size_t row = 0; row < rows; ++row) {
    for (const std::string& word : ages) text += row < word.size() ? word[row] : ' ';
    text += '\n';
  }
  return text;
}

std::string report_text(const LatencyMonitor& monitor, int64_t slowlog_slower_than_us) {
  if (!monitor.on())
    return "Latency is not sampled. CONFIG SET latency-monitor-threshold <milliseconds> samples "
           "what takes as long.\n";
  if (monitor.events().empty())
    return "Nothing has taken " + std::to_string(monitor.threshold_ms()) +
           " ms or more since sampling began or was reset.\n";
  std::string text = "Seconds in which something took " + std::to_string(monitor.threshold_ms()) +
                     " ms or more, by event:\n\n";
  int number = 0;
  for (const auto& [name, event] : monitor.events()) {
    const Summary summary = summarize(event.samples);
    char line[200];
    std::snprintf(line, sizeof line,
                  ": %zu samples (mean %.0f ms, mean deviation %.0f ms, one in %.2f s). The worst "
                  "of all took %lld ms.\n",
                  event.samples.size(), summary.mean_ms, summary.mean_deviation_ms,
                  summary.period_s, static_cast<long long>(event.ms_max));
    text += std::to_string(++number) + ". " + name + line;
  }
  return text + "\nWhat may help:\n\n" + advice(monitor, slowlog_slower_than_us);
}

}  // namespace weir::server
