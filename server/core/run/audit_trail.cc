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
constexpr size_t kCountsSearched = 16;  // more than there are commands that are counted

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
  if (has_keys(call.command) && is_repeated(call, &line)) return;
  line.fields.push_back({"arguments", arguments_of(call)});
  if (changes.empty()) changes.emplace_back();
  add_changes(std::move(line), std::move(changes));
}

void AuditTrail::note_file(std::string_view option, std::vector<AuditChange> changes) {
  add_changes({.text = "audit: " + std::string(option), .is_about_data = true}, std::move(changes));
}

void AuditTrail::add_changes(Line line, std::vector<AuditChange> changes) {
  for (AuditChange& change : changes) {
    Line& told = lines_.emplace_back(line);
    line.repeated.reset();  // the first one has begun it
    if (change.name.empty()) continue;
    told.fields.push_back({"changed", cut(std::move(change.name))});
    told.fields.push_back({"before", cut(std::move(change.before))});
    told.fields.push_back({"after", cut(std::move(change.after))});
  }
}

// Answers where requests are counted that are taken back together, so that a script of many adds
// little; null: nowhere near.
AuditTrail::Line* AuditTrail::counts_of(RepeatedRequests::iterator repeated) {
  const size_t begin = lines_.size() - std::min(kCountsSearched, lines_.size());
  for (size_t at = lines_.size(); at > std::max(begin, counts_begin_); --at) {
    Line& line = lines_[at - 1];
    if (line.more > 0 && line.repeated == repeated) return &line;
  }
  return nullptr;
}

bool AuditTrail::is_repeated(const Call& call, Line* line) {
  const std::string user = call.session.client().user().name();
  const auto [at, is_first] = repeated_.try_emplace({&call.command, user});
  line->repeated = at;
  if (is_first) {
    at->second.until_ns = clock_.steady_ns() + kNsPerS;
    return false;
  }
  if (Line* const counts = counts_of(at)) {
    ++counts->more;
  } else {
    lines_.push_back({.is_about_data = line->is_about_data, .repeated = at, .more = 1});
  }
  return true;
}

void AuditTrail::tell_more(const RepeatedRequests::value_type& repeated) {
  const auto& [command, user] = repeated.first;
  if (repeated.second.more == 0) return;
  const LogField fields[] = {{"user", user}, {"more", std::to_string(repeated.second.more)}};
  log_always(EventLevel::kInfo, "audit: " + name_of(*command), fields);
}

// Lines of a turn that has not ended hang on what is erased here, so it waits for them.
void AuditTrail::tick() {
  if (repeated_.empty() || !lines_.empty()) return;
  const int64_t now_ns = clock_.steady_ns();
  std::erase_if(repeated_, [&](const auto& entry) {
    if (now_ns < entry.second.until_ns) return false;
    tell_more(entry);
    return true;
  });
}

void AuditTrail::close() {
  for (const auto& entry : repeated_) tell_more(entry);
  repeated_.clear();
}

void AuditTrail::drop_after(size_t savepoint) {
  const auto first =
      lines_.begin() + static_cast<std::ptrdiff_t>(std::min(savepoint, lines_.size()));
  for (auto line = first; line != lines_.end(); ++line) {
    if (line->is_about_data && line->repeated && line->more == 0) repeated_.erase(*line->repeated);
  }
  lines_.erase(
      std::remove_if(first, lines_.end(), [](const Line& line) { return line.is_about_data; }),
      lines_.end());
}

void AuditTrail::write(uint64_t turns_failed) {
  if (turns_failed > turns_failed_) drop_after(0);
  turns_failed_ = turns_failed;
  for (const Line& line : lines_) {
    if (line.more > 0) {
      (*line.repeated)->second.more += line.more;
    } else {
      log_always(EventLevel::kInfo, line.text, line.fields);
    }
  }
  lines_.clear();
  counts_begin_ = 0;
  if (!std::exchange(ends_, false)) return;
  close();
  log_always(EventLevel::kWarning, "loglevel is nothing: this is the last line, of the audit, too",
             {});
  set_log_level(LogLevel::kNothing);
}

}  // namespace weir::server
