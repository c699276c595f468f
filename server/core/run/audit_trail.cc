#include "server/core/run/audit_trail.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>

#include "base/ascii.h"
#include "base/time_units.h"
#include "server/acl/user.h"
#include "server/command/command_facts.h"
#include "server/command/redaction.h"
#include "server/session/session.h"

namespace weir::server {
namespace {

constexpr size_t kShownBytesMax = 500;

std::string cut(std::string text) {
  if (text.size() <= kShownBytesMax) return text;
  const size_t more = text.size() - kShownBytesMax;
  text.resize(kShownBytesMax);
  return text + "... (" + std::to_string(more) + " more bytes)";
}

// The words after the command's own, which may be many and large: no more is copied than is shown.
std::string arguments_of(const Call& call) {
  const size_t own = call.command.is_subcommand() ? 2 : 1;
  const std::vector<std::string_view> words = audited(call.command, call.args);
  std::string text;
  size_t more = 0;
  for (const std::string_view word : std::span(words).subspan(own)) {
    const std::string_view shown =
        word.substr(0, kShownBytesMax - std::min(kShownBytesMax, text.size()));
    if (!text.empty() && !shown.empty()) text += ' ';
    text += shown;
    more += word.size() - shown.size();
  }
  return more == 0 ? text : text + "... (" + std::to_string(more) + " more bytes)";
}

std::string name_of(const Command& command) {
  std::string name = to_upper(command.name);
  std::replace(name.begin(), name.end(), '|', ' ');
  return name;
}

std::string_view way_of(ConnectionType type) {
  switch (type) {
    case ConnectionType::kTcp:
      return "tcp";
    case ConnectionType::kTls:
      return "tls";
    case ConnectionType::kUnixSocket:
      return "unix";
    case ConnectionType::kHttp:
      return "http";
    case ConnectionType::kHttps:
      return "https";
    case ConnectionType::kMetrics:
      return "page";
    case ConnectionType::kMetricsTls:
      return "page-tls";
    case ConnectionType::kGrpc:
      return "grpc";
    case ConnectionType::kGrpcTls:
      return "grpc-tls";
  }
  return "?";
}

}  // namespace

AuditTrail::Line AuditTrail::line_of(const Call& call, Within within) {
  const Client& client = call.session.client();
  Line line{.text = "audit: " + name_of(call.command),
            .fields = {{"user", client.user().name()},
                       {"client", std::to_string(call.session.id)},
                       {"address", client.peer().address},
                       {"via", std::string(way_of(client.peer().type))},
                       {"database", std::to_string(call.database)}},
            .is_about_data = call.command.has(kWrites)};
  if (within == Within::kTransaction) line.fields.push_back({"within", "transaction"});
  if (within == Within::kScript) line.fields.push_back({"within", "script"});
  return line;
}

void AuditTrail::note(const Call& call, Within within) {
  std::vector<AuditChange> changes = notes_.take();
  if (call.command.audit == Audit::kIfNoted && changes.empty()) return;
  Line line = line_of(call, within);
  if (has_keys(call.command) && is_repeated(call, line)) return;
  line.fields.push_back({"arguments", arguments_of(call)});
  if (changes.empty()) changes.emplace_back();
  for (AuditChange& change : changes) {
    Line& told = lines_.emplace_back(line);
    if (change.name.empty()) continue;
    told.fields.push_back({"changed", cut(std::move(change.name))});
    told.fields.push_back({"before", cut(std::move(change.before))});
    told.fields.push_back({"after", cut(std::move(change.after))});
  }
}

bool AuditTrail::is_repeated(const Call& call, const Line& line) {
  const std::string user = call.session.client().user().name();
  Repeated& repeated = repeated_[{&call.command, user}];
  if (repeated.until_ns != 0) {
    ++repeated.more;
    return true;
  }
  repeated.until_ns = clock_.steady_ns() + kNsPerS;
  repeated.line = line;
  return false;
}

void AuditTrail::tick() {
  if (repeated_.empty()) return;
  const int64_t now_ns = clock_.steady_ns();
  std::erase_if(repeated_, [&](const auto& entry) {
    const Repeated& repeated = entry.second;
    if (now_ns < repeated.until_ns) return false;
    if (repeated.more == 0) return true;
    std::vector<LogField> fields = repeated.line.fields;
    fields.push_back({"more", std::to_string(repeated.more)});
    log_always(EventLevel::kInfo, repeated.line.text, fields);
    return true;
  });
}

void AuditTrail::drop_after(size_t savepoint) {
  const auto first =
      lines_.begin() + static_cast<std::ptrdiff_t>(std::min(savepoint, lines_.size()));
  lines_.erase(
      std::remove_if(first, lines_.end(), [](const Line& line) { return line.is_about_data; }),
      lines_.end());
}

void AuditTrail::write(uint64_t turns_failed) {
  if (turns_failed > turns_failed_) drop_after(0);
  turns_failed_ = turns_failed;
  for (const Line& line : lines_) log_always(EventLevel::kInfo, line.text, line.fields);
  lines_.clear();
}

}  // namespace weir::server
