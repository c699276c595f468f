// RL.REPORT, RL.POLICY REPORT: what callers tell of the service that a limit protects.
#include <optional>
#include <string>

#include "algorithms/adaptive.h"
#include "algorithms/rate_text.h"
#include "algorithms/words.h"
#include "base/ascii.h"
#include "server/commands/command_lists.h"
#include "server/limiter/policy/limit_use.h"
#include "server/limiter/take/adapt.h"

namespace weir::server {
namespace {

// Reads OK|FAIL [LATENCY time]. The error is a whole line.
Result<algorithms::Report, std::string> report_of(const Call& call, Args words) {
  const bool failed = equals_ignoring_case(words[0], "FAIL");
  if (!failed && !equals_ignoring_case(words[0], "OK")) {
    return "ERR syntax error at " + algorithms::quoted(words[0]) + ": expected OK or FAIL";
  }
  algorithms::Report report{.now_ns = call.now_ns, .failed = failed};
  if (words.size() == 1) return report;
  if (!equals_ignoring_case(words[1], "LATENCY") || words.size() > 3) {
    const std::string_view wrong = equals_ignoring_case(words[1], "LATENCY") ? words[3] : words[1];
    return "ERR syntax error at " + algorithms::quoted(wrong) +
           ": after OK or FAIL comes LATENCY with a time, or nothing";
  }
  const auto latency_ns =
      words.size() == 3 ? algorithms::parse_time(words[2]) : std::optional<int64_t>();
  if (!latency_ns || *latency_ns < 0 || *latency_ns > algorithms::kLatencyNsMax) {
    return "ERR LATENCY must be " + std::string(algorithms::kTimeForm) + ", at most " +
           algorithms::format_duration(algorithms::kLatencyNsMax) + ", got " +
           (words.size() == 3 ? algorithms::quoted(words[2]) : "nothing");
  }
  report.latency_ns = *latency_ns;
  return report;
}

void rl_report(Call& call) {
  const auto report = report_of(call, call.args.subspan(2));
  if (!report) return call.reply.error(report.error());
  report_to_key(call, call.args[1], *report);
}

void policy_report(Call& call) {
  const auto report = report_of(call, call.args.subspan(3));
  if (!report) return call.reply.error(report.error());
  report_to_policy(call, call.args[2], *report);
}

void reports_policy(Args args, LimitUse* use) { add_policy_use(args, 2, use); }

constexpr Command kRlReportCommands[] = {
    {.name = "rl.report",
     .arity = -3,
     .flags = kWrites | kFast,
     .keys = {1, 1, 1},
     .group = "ratelimit",
     .usage = "key <OK | FAIL> [LATENCY time]",
     .summary = "Tells how the service behind a limiter did, which moves its ADAPTIVE counts.",
     .since = "weir 0.1",
     .run = rl_report},
    {.name = "rl.policy|report",
     .arity = -4,
     .flags = kWrites | kFast,
     .audit = Audit::kNo,
     .group = "ratelimit",
     .categories = "ratelimitadmin",
     .usage = "name <OK | FAIL> [LATENCY time]",
     .summary =
         "Tells how the service behind a policy did, which moves the counts of all its keys.",
     .since = "weir 0.1",
     .run = policy_report,
     .limit_use = reports_policy},
};

}  // namespace

Commands rl_report_commands() { return kRlReportCommands; }

}  // namespace weir::server
