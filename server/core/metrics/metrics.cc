#include "server/core/metrics/metrics.h"

#include <algorithm>
#include <map>
#include <utility>

#include "algorithms/algorithm.h"
#include "server/core/metrics/metric_sections.h"
#include "server/core/run/minute_totals.h"
#include "server/core/run/server.h"

namespace weir::server {
namespace {

constexpr std::string_view kOther = "other";

// Metrics for people: rates, means and shares that whoever collects metrics computes himself, and
// what a metric with a label tells.
constexpr std::string_view kForPeople[] = {
    "server_time_usec",
    "uptime_in_days",
    "instantaneous_ops_per_sec",
    "instantaneous_input_kbps",
    "instantaneous_output_kbps",
    "used_memory_peak_perc",
    "allocator_frag_ratio",
    "allocator_rss_ratio",
    "mem_fragmentation_ratio",
    "turn_us_mean",
    "commit_us_mean",
    "usec_per_call",
    "verdicts",
    "allowed",
    "denied",
    "banned",
    "shadow_allowed",
    "shadow_denied",
};

// Sections for people: percentiles, which histograms tell better, and samples of keys.
constexpr std::string_view kSectionsLeftOut[] = {"latencystats", "keyspace"};

struct OutcomeLabel {
  Outcome outcome;
  std::string_view label;
};

constexpr OutcomeLabel kOutcomeLabels[] = {{Outcome::kAllowed, "allowed"},
                                           {Outcome::kDenied, "denied"},
                                           {Outcome::kBanned, "banned"},
                                           {Outcome::kShadowAllowed, "shadow_allowed"},
                                           {Outcome::kShadowDenied, "shadow_denied"}};

void write_verdicts(const VerdictCounts& verdicts, MetricsText& out) {
  constexpr MetricName kName{
      "verdicts", "Verdicts of limits. Denied has all that were, banned those of them by a ban."};
  for (const auto& [outcome, label] : kOutcomeLabels)
    out.labelled(kName, {{"outcome", label}}, verdicts.of(outcome));
  static_cast<MetricWriter&>(out).counter({"permits", "Permits that were taken."},
                                          verdicts.permits());
}

// Of algorithms that have decided since the start; `none` is of policies that block.
void write_algorithms(const VerdictCounts& verdicts, MetricsText& out) {
  constexpr MetricName kName{"algorithm_verdicts",
                             "Verdicts by the algorithm of the limit that decided."};
  const auto write = [&](uint8_t id, std::string_view name) {
    const bool is_used = std::ranges::any_of(
        kOutcomeLabels, [&](const auto& each) { return verdicts.of(id, each.outcome) != 0; });
    if (!is_used) return;
    for (const auto& [outcome, label] : kOutcomeLabels)
      out.labelled(kName, {{"algorithm", name}, {"outcome", label}}, verdicts.of(id, outcome));
  };
  write(0, "none");
  for (const algorithms::Algorithm* algorithm : algorithms::all_algorithms())
    write(algorithm->id, algorithm->name);
}

void write_policies(const Policies& policies, MetricsText& out) {
  std::map<std::string, PolicyCounts, std::less<>> shown;
  policies.visit_counts([&shown](std::string_view name, const PolicyCounts& counts) {
    const bool has_room = shown.size() < kPolicyMetricsMax;
    PolicyCounts& sum = shown[std::string(has_room ? name : kOther)];
    sum.granted += counts.granted;
    sum.denied += counts.denied;
    sum.banned += counts.banned;
    sum.shadow_denied += counts.shadow_denied;
  });
  constexpr MetricName kName{"policy_verdicts", "Verdicts under a policy."};
  for (const auto& [policy, counts] : shown) {
    out.labelled(kName, {{"policy", policy}, {"outcome", "allowed"}}, counts.granted);
    out.labelled(kName, {{"policy", policy}, {"outcome", "denied"}}, counts.denied);
    out.labelled(kName, {{"policy", policy}, {"outcome", "banned"}}, counts.banned);
    out.labelled(kName, {{"policy", policy}, {"outcome", "shadow_denied"}}, counts.shadow_denied);
  }
}

DurationBuckets buckets_of(const WaitDurations& durations) {
  DurationBuckets shown{.buckets = {}, .total = durations.total(), .sum_ns = durations.sum_ns()};
  for (size_t i = 0; i < WaitDurations::kBounds; ++i)
    shown.buckets.push_back({WaitDurations::bound_ns(i), durations.below(i)});
  return shown;
}

// Of the commands that have waited since the start.
void write_waits(Server& server, MetricsText& out) {
  constexpr MetricName kEnded{"command_waits", "Waits that have ended, by how."};
  constexpr std::pair<WaitEnd, std::string_view> kEnds[] = {{WaitEnd::kServed, "served"},
                                                            {WaitEnd::kTimedOut, "timed_out"},
                                                            {WaitEnd::kUnblocked, "unblocked"},
                                                            {WaitEnd::kLeft, "left"}};
  MetricWriter& metrics = out;
  const CommandTable& table = server.executor().table();
  for (size_t i = 0; i < table.count(); ++i) {
    const std::string_view command = table.row(i)->name;
    const CommandWaits* waits = server.waiting().metrics().of(*table.row(i));
    if (waits == nullptr) continue;
    for (const auto& [end, label] : kEnds)
      out.labelled(kEnded, {{"command", command}, {"end", label}}, waits->ended_as(end));
    metrics.row(kCommandMetrics, command, [&] {
      metrics.gauge({"waiting", "Clients that wait now."}, waits->waiting);
      metrics.histogram({"wait_duration", "Waits that have ended.", MetricUnit::kSeconds},
                        buckets_of(waits->durations));
    });
  }
}

void write_databases(Server& server, MetricWriter& out) {
  for (int database = 0; database < server.keys().options().databases; ++database) {
    const uint64_t keys = server.keys().size(database);
    if (keys == 0 && database != 0) continue;
    out.row(kDatabaseMetrics, std::to_string(database), [&out, keys] {
      out.gauge({"keys", "Keys of the database."}, keys);
    });
  }
}

void write_histograms(Server& server, MetricWriter& out) {
  constexpr MetricUnit kSeconds = MetricUnit::kSeconds;
  out.histogram(
      {"turn_duration", "Turns, from the first request to the release of the replies.", kSeconds},
      server.report().turns);
  out.histogram({"commit_duration", "The part of each turn that the log took.", kSeconds},
                server.report().commits);
  out.histogram(
      {"decision_duration",
       "Commands that ask a limiter, one of sixteen, while latency-tracking is on.", kSeconds},
      decision_durations(server.executor()), &server.report().decisions);
}

void write_facts(Server& server, MetricsText& out) {
  out.fact({"build_info", "The version that runs."}, {"version", weir_version()});
  out.fact({"limiting_info", "Whether limiters deny: on, shadow or off."},
           {"limiting", limiting_name(server.limiters().limiting)});
  MetricWriter& metrics = out;
  metrics.gauge({"storage_up", "1: the store takes what is written."},
                server.keys().store_in_use().failed() ? 0 : 1);
  metrics.gauge({"ready", "1: commands that write are served, or this standby follows its shard."},
                unready_reason(server).empty() ? 1 : 0);
}

}  // namespace

std::string metrics_text(Server& server, MetricsFormat format) {
  MetricsText out(format);
  for (const std::string_view name : kForPeople) out.leave_out(name);
  write_facts(server, out);
  for (const MetricSection& section : metric_sections()) {
    if (std::ranges::find(kSectionsLeftOut, section.name) == std::end(kSectionsLeftOut))
      section.write(server, out);
  }
  write_databases(server, out);
  write_verdicts(server.limiters().verdicts, out);
  write_algorithms(server.limiters().verdicts, out);
  write_policies(server.limiters().policies, out);
  write_waits(server, out);
  write_histograms(server, out);
  return out.take();
}

std::string unserving_reason(Server& server) {
  if (server.shard_role().serves()) return {};
  return "this server is a standby of its shard";
}

std::string unready_reason(const MemberView& standby) {
  if (standby.state == "following") return {};
  return "this member of its shard does not serve and is " + standby.state +
         (standby.stopped_because.empty() ? "" : ": " + standby.stopped_because);
}

std::string unready_reason(Server& server) {
  if (!server.shard_role().serves())
    return unready_reason(server.shard_role().membership()->view());
  const StorageHealth& health = server.persistence().health;
  if (health.writes_denied()) {
    return "the store has failed: " + health.failure().message();
  }
  if (server.keys().work().overloaded()) return "write-back is late, and commands wait for it";
  return {};
}

}  // namespace weir::server
