// LATENCY: samples of slow events, and how long commands take.
#include <string>
#include <vector>

#include "base/time_units.h"
#include "server/command/arguments.h"
#include "server/command/command_table.h"
#include "server/commands/command_lists.h"
#include "server/commands/help.h"
#include "server/core/run/server.h"
#include "server/report/latency_text.h"

namespace weir::server {
namespace {

void latency_latest(Call& call) {
  const LatencyMonitor::Events& events = server_of(call).report().latency.events();
  call.reply.array(static_cast<int64_t>(events.size()));
  for (const auto& [name, event] : events) {
    call.reply.array(4);
    call.reply.bulk(name);
    call.reply.integer(event.samples.back().unix_s);
    call.reply.integer(event.samples.back().ms);
    call.reply.integer(event.ms_max);
  }
}

void latency_history(Call& call) {
  const LatencyMonitor::Event* event = server_of(call).report().latency.find(call.args[2]);
  if (event == nullptr) return call.reply.array(0);
  call.reply.array(static_cast<int64_t>(event->samples.size()));
  for (const LatencyMonitor::Sample& sample : event->samples) {
    call.reply.array(2);
    call.reply.integer(sample.unix_s);
    call.reply.integer(sample.ms);
  }
}

void latency_reset(Call& call) {
  LatencyMonitor& monitor = server_of(call).report().latency;
  size_t forgotten = 0;
  for (const std::string_view event : call.args.subspan(2)) forgotten += monitor.forget(event);
  if (call.args.size() == 2) forgotten = monitor.forget_all();
  call.reply.integer(static_cast<int64_t>(forgotten));
}

void latency_graph(Call& call) {
  const LatencyMonitor::Event* event = server_of(call).report().latency.find(call.args[2]);
  if (event == nullptr) {
    return call.reply.error("ERR No samples available for event '" +
                            std::string(shown_part(call.args[2])) + "'");
  }
  call.reply.verbatim(graph_text(call.args[2], *event, call.wall_ns() / kNsPerS));
}

void latency_doctor(Call& call) {
  call.reply.verbatim(report_text(server_of(call).report().latency,
                                  server_of(call).config().slowlog_log_slower_than));
}

struct Bucket {
  int64_t below_us;
  uint64_t calls;
};

// Answers the counts up to each power of two nanoseconds that are larger than the count before. The
// calls that were timed stand for all calls.
std::vector<Bucket> buckets_of(const CommandMetrics& metrics) {
  const DurationHistogram& durations = *metrics.durations;
  const uint64_t total = durations.total();
  std::vector<Bucket> buckets;
  uint64_t before = 0;
  constexpr int kFirst = DurationHistogram::kFirstPower, kLast = DurationHistogram::kLastPower;
  for (int power = kFirst; power <= kLast; ++power) {
    const uint64_t count = durations.below(power);
    if (count == before) continue;
    before = count;
    const uint64_t calls = (count * metrics.calls + total / 2) / total;
    buckets.push_back({.below_us = (int64_t{1} << power) / kNsPerUs, .calls = calls});
  }
  return buckets;
}

void reply_histogram(Call& call, const Command& command) {
  const CommandMetrics& metrics = server_of(call).executor().metrics(command);
  const auto buckets = buckets_of(metrics);
  call.reply.bulk(command.name);
  call.reply.map(2);
  call.reply.bulk("calls");
  call.reply.integer(static_cast<int64_t>(metrics.calls));
  call.reply.bulk("histogram_usec");
  call.reply.map(static_cast<int64_t>(buckets.size()));
  for (const Bucket& bucket : buckets) {
    call.reply.integer(bucket.below_us);
    call.reply.integer(static_cast<int64_t>(bucket.calls));
  }
}

// A container's name stands for its subcommands.
void latency_histogram(Call& call) {
  const CommandTable& table = server_of(call).executor().table();
  std::vector<const Command*> rows;
  const auto add = [&](const Command& row) {
    if (server_of(call).executor().metrics(row).durations != nullptr) rows.push_back(&row);
  };
  for (size_t i = 0; call.args.size() == 2 && i < table.count(); ++i) add(*table.row(i));
  for (const std::string_view name : call.args.subspan(2)) {
    const Command* row = table.find_by_full_name(name);
    if (row == nullptr) continue;
    add(*row);
    if (!row->has(kContainer)) continue;
    for (const Command* subcommand : table.subcommands(*row)) add(*subcommand);
  }
  call.reply.map(static_cast<int64_t>(rows.size()));
  for (const Command* row : rows) reply_histogram(call, *row);
}

constexpr Command latency_row(Command command, uint32_t flags = kAdmin | kNoScript | kLoading) {
  command.flags = flags;
  command.group = "server";
  return command;
}

constexpr Command kLatencyCommands[] = {
    latency_row({.name = "latency",
                 .arity = -2,
                 .summary = "Tells what took long, and how long commands take.",
                 .since = "2.8.13"},
                kContainer),
    latency_row({.name = "latency|doctor",
                 .arity = 2,
                 .audit = Audit::kNo,
                 .summary = "Says in words what took long, and what may help.",
                 .since = "2.8.13",
                 .tips = "nondeterministic_output request_policy:all_nodes response_policy:special",
                 .run = latency_doctor}),
    latency_row({.name = "latency|graph",
                 .arity = 3,
                 .audit = Audit::kNo,
                 .usage = "event",
                 .summary = "Draws the samples of an event.",
                 .since = "2.8.13",
                 .tips = "nondeterministic_output request_policy:all_nodes response_policy:special",
                 .run = latency_graph}),
    latency_row({.name = "latency|help",
                 .arity = 2,
                 .summary = "Lists the subcommands.",
                 .since = "2.8.13",
                 .run = container_help},
                kLoading),
    latency_row(
        {.name = "latency|histogram",
         .arity = -2,
         .audit = Audit::kNo,
         .usage = "[command [command ...]]",
         .summary = "Answers how many calls of commands took how many microseconds at most.",
         .since = "7.0.0",
         .tips = "nondeterministic_output request_policy:all_nodes response_policy:special",
         .run = latency_histogram}),
    latency_row(
        {.name = "latency|history",
         .arity = 3,
         .audit = Audit::kNo,
         .usage = "event",
         .summary =
             "Answers the samples of an event, the oldest first: Unix seconds, milliseconds.",
         .since = "2.8.13",
         .tips = "nondeterministic_output request_policy:all_nodes response_policy:special",
         .run = latency_history}),
    latency_row({.name = "latency|latest",
                 .arity = 2,
                 .audit = Audit::kNo,
                 .summary = "Answers each event: its name, its latest sample, the longest of all.",
                 .since = "2.8.13",
                 .tips = "nondeterministic_output request_policy:all_nodes response_policy:special",
                 .run = latency_latest}),
    latency_row({.name = "latency|reset",
                 .arity = -2,
                 .audit = Audit::kYes,
                 .usage = "[event [event ...]]",
                 .summary = "Forgets the samples of events, or of all; answers of how many.",
                 .since = "2.8.13",
                 .tips = "request_policy:all_nodes response_policy:all_succeeded",
                 .run = latency_reset}),
};

}  // namespace

Commands latency_commands() { return kLatencyCommands; }

}  // namespace weir::server
