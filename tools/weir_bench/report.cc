#include "tools/weir_bench/report.h"

#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "base/time_units.h"

namespace weir::bench {
namespace {

template <typename... Values>
std::string format(const char* pattern, Values... values) {
  char line[512];
  const int size = std::snprintf(line, sizeof line, pattern, values...);
  return std::string(line, std::min<size_t>(static_cast<size_t>(size), sizeof line - 1));
}

double us(uint64_t ns) { return static_cast<double>(ns) / kNsPerUs; }

double per_reply(int64_t cpu_us, const Report& report) {
  return report.replies == 0 ? 0
                             : static_cast<double>(cpu_us) / static_cast<double>(report.replies);
}

std::string quoted(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    json += static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e ? '?' : c;
  }
  return json + "\"";
}

std::string field(const char* name, double value) { return format("\"%s\": %.3f, ", name, value); }
std::string field(const char* name, uint64_t value) {
  return format("\"%s\": %" PRIu64 ", ", name, value);
}

}  // namespace

double Report::replies_per_second() const {
  return window_ns == 0 ? 0
                        : static_cast<double>(replies) * kNsPerS / static_cast<double>(window_ns);
}

double Report::others_percent() const {
  const double machine_us = static_cast<double>(window_ns) / kNsPerUs *
                            static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  return machine_us <= 0 ? 0 : std::max(0.0, 100 * static_cast<double>(others_cpu_us) / machine_us);
}

std::string to_text(const Options& options, const Report& report) {
  const Histogram& latency = report.latency;
  std::string text = format("%s, %" PRId64 " connections, pipeline %" PRId64 ", %" PRId64
                            " keys: %.0f per second, p50 %.0f us, "
                            "p99 %.0f us, p99.9 %.0f us, max %.0f us\n",
                            std::string(name_of(options.kind)).c_str(), options.connections,
                            options.pipeline, options.keys, report.replies_per_second(),
                            us(latency.percentile_ns(0.5)), us(latency.percentile_ns(0.99)),
                            us(latency.percentile_ns(0.999)), us(latency.max_ns()));
  text +=
      format("  %" PRIu64 " replies in %.3f s; longest silence %.0f us, longest own pause %.0f us",
             report.replies, us(static_cast<uint64_t>(report.window_ns)) / kUsPerS,
             us(static_cast<uint64_t>(report.silence_max_ns)),
             us(static_cast<uint64_t>(report.own_pause_max_ns)));
  text += format("; own CPU %.2f us per command", per_reply(report.own_cpu_us, report));
  if (report.server_cpu_us >= 0) {
    text += format(", server's %.2f us; other programs took %.0f %% of the processors",
                   per_reply(report.server_cpu_us, report), report.others_percent());
  }
  text += "\n";
  if (options.rate > 0) text += format("  never sent: %" PRIu64 "\n", report.never_sent);
  text += format("  replies: %" PRIu64 " good (%" PRIu64 " absent), %" PRIu64 " denied, %" PRIu64
                 " wrong\n",
                 report.tally.good, report.tally.absent, report.tally.denied, report.tally.wrong);
  if (!report.tally.first_bad.empty())
    text += "  first bad reply: " + report.tally.first_bad + "\n";
  for (size_t i = 0; options.series && i < report.series.size(); ++i) {
    text += format("  second %zu: %" PRIu64 " replies, max %.0f us\n", i, report.series[i].replies,
                   us(static_cast<uint64_t>(report.series[i].latency_max_ns)));
  }
  if (!report.failure.empty()) text += "FAILED: " + report.failure + "\n";
  return text;
}

std::string to_json(const Options& options, const Report& report) {
  const Histogram& latency = report.latency;
  std::string json =
      "{" + field("per_second", report.replies_per_second()) + field("replies", report.replies) +
      field("seconds", static_cast<double>(report.window_ns) / kNsPerS) +
      field("mean_us", us(latency.mean_ns())) + field("p50_us", us(latency.percentile_ns(0.5))) +
      field("p99_us", us(latency.percentile_ns(0.99))) +
      field("p999_us", us(latency.percentile_ns(0.999))) + field("max_us", us(latency.max_ns())) +
      field("silence_max_us", us(static_cast<uint64_t>(report.silence_max_ns))) +
      field("own_pause_max_us", us(static_cast<uint64_t>(report.own_pause_max_ns))) +
      field("own_cpu_us", per_reply(report.own_cpu_us, report)) + field("good", report.tally.good) +
      field("absent", report.tally.absent) + field("denied", report.tally.denied) +
      field("wrong", report.tally.wrong) + field("never_sent", report.never_sent);
  if (report.server_cpu_us >= 0) {
    json += field("others_percent", report.others_percent());
    json += field("server_cpu_us", per_reply(report.server_cpu_us, report));
  }
  if (options.series) {
    json += "\"series\": [";
    for (size_t i = 0; i < report.series.size(); ++i) {
      json += format("%s[%" PRIu64 ", %.0f]", i == 0 ? "" : ", ", report.series[i].replies,
                     us(static_cast<uint64_t>(report.series[i].latency_max_ns)));
    }
    json += "], ";
  }
  return json + "\"first_bad\": " + quoted(report.tally.first_bad) +
         ", \"failure\": " + quoted(report.failure) + "}\n";
}

int64_t cpu_time_us(int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return -1;
  // The second field is the program's name in brackets, which may hold anything.
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  std::string skipped;
  for (int i = 3; i < 14; ++i) fields >> skipped;
  int64_t user = 0, system = 0, children_user = 0, children_system = 0;
  fields >> user >> system >> children_user >> children_system;
  return (user + system + children_user + children_system) * kUsPerS / sysconf(_SC_CLK_TCK);
}

int64_t machine_cpu_time_us() {
  std::ifstream file("/proc/stat");
  std::string name;
  int64_t user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft = 0;
  file >> name >> user >> nice >> system >> idle >> waiting >> interrupts >> soft;
  return (user + nice + system + interrupts + soft) * kUsPerS / sysconf(_SC_CLK_TCK);
}

}  // namespace weir::bench
