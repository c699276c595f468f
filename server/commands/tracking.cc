// CLIENT TRACKING and its partners: what a session that caches asks for; see tracking/tracking.h.
#include <algorithm>
#include <string>

#include "base/ascii.h"
#include "base/result.h"
#include "server/command/arguments.h"
#include "server/command/option_table.h"
#include "server/commands/command_lists.h"
#include "server/core/run/server.h"

namespace weir::server {
namespace {

std::string overlap_error(std::string_view prefix, std::string_view other, bool is_own) {
  return "ERR Prefix '" + std::string(prefix) + "' overlaps with " +
         (is_own ? "an existing" : "another provided") + " prefix '" + std::string(other) +
         "'. Prefixes for a single client must not overlap.";
}

bool overlap(std::string_view one, std::string_view other) {
  const size_t length = std::min(one.size(), other.size());
  return one.substr(0, length) == other.substr(0, length);
}

struct WantedTracking : TrackingState {
  std::vector<std::string> given;  // the prefixes, in their order
};

Result<void, ErrorReplied> take_redirect(Call& call, Args values, WantedTracking* wanted) {
  if (wanted->redirect != 0)
    return reply_error(call, "ERR A client can only redirect to a single other client");
  const auto id = integer_argument(call, values[0]);
  if (!id) return id.error();
  wanted->redirect = static_cast<uint64_t>(*id);
  if (server_of(call).sessions().find_session(wanted->redirect) == nullptr)
    return reply_error(call, "ERR The client ID you want redirect to does not exist");
  return {};
}

Result<void, ErrorReplied> take_prefix(Call&, Args values, WantedTracking* wanted) {
  wanted->given.emplace_back(values[0]);
  return {};
}

constexpr OptionRow<WantedTracking> kTrackingOptions[] = {
    {.word = "REDIRECT", .values = 1, .take = take_redirect},
    {.word = "PREFIX", .values = 1, .take = take_prefix},
    {.word = "BCAST", .flag = &WantedTracking::broadcasts},
    {.word = "OPTIN", .flag = &WantedTracking::opts_in},
    {.word = "OPTOUT", .flag = &WantedTracking::opts_out},
    {.word = "NOLOOP", .flag = &WantedTracking::no_loop}};

// Compares the prefixes given with one another and with those that the session has.
Result<void, std::string> check_prefixes(const TrackingState& current,
                                         const std::vector<std::string>& prefixes) {
  for (size_t i = 0; i < prefixes.size(); ++i) {
    for (const std::string& own : current.prefixes) {
      if (overlap(prefixes[i], own)) return overlap_error(prefixes[i], own, true);
    }
    for (size_t other = i + 1; other < prefixes.size(); ++other) {
      if (overlap(prefixes[i], prefixes[other]))
        return overlap_error(prefixes[i], prefixes[other], false);
    }
  }
  return {};
}

Result<void, std::string> check_conflicts(const TrackingState& current,
                                          const WantedTracking& wanted) {
  if (!wanted.broadcasts && !wanted.given.empty())
    return "ERR PREFIX option requires BCAST mode to be enabled";
  if (current.on && current.broadcasts != wanted.broadcasts) {
    return "ERR You can't switch BCAST mode on/off before disabling tracking for this client, and "
           "then re-enabling it with a different mode.";
  }
  if (wanted.broadcasts && (wanted.opts_in || wanted.opts_out))
    return "ERR OPTIN and OPTOUT are not compatible with BCAST";
  if (wanted.opts_in && wanted.opts_out)
    return "ERR You can't specify both OPTIN mode and OPTOUT mode";
  if ((wanted.opts_in && current.opts_out) || (wanted.opts_out && current.opts_in)) {
    return "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and "
           "then re-enabling it with a different mode.";
  }
  if (wanted.broadcasts) return check_prefixes(current, wanted.given);
  return {};
}

void client_tracking(Call& call) {
  WantedTracking wanted;
  if (!read_options(call, 3, kTrackingOptions, &wanted)) return;
  if (equals_ignoring_case(call.args[2], "OFF")) {
    server_of(call).messages().tracking().disable(call.session);
    return call.reply.status("OK");
  }
  if (!equals_ignoring_case(call.args[2], "ON")) return call.reply.error(kSyntaxError);
  const auto fits = check_conflicts(call.session.listening().tracking, wanted);
  if (!fits) return call.reply.error(fits.error());
  wanted.on = true;
  wanted.prefixes.insert(wanted.given.begin(), wanted.given.end());
  server_of(call).messages().tracking().enable(call.session, wanted);
  call.reply.status("OK");
}

void client_caching(Call& call) {
  TrackingState& state = call.session.listening().tracking;
  if (!state.on) {
    return call.reply.error(
        "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or "
        "OPTOUT mode enabled");
  }
  const bool says_yes = equals_ignoring_case(call.args[2], "YES");
  if (!says_yes && !equals_ignoring_case(call.args[2], "NO")) return call.reply.error(kSyntaxError);
  if (says_yes && !state.opts_in) {
    return call.reply.error(
        "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.");
  }
  if (!says_yes && !state.opts_out) {
    return call.reply.error(
        "ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.");
  }
  state.caching = true;
  call.reply.status("OK");
}

int64_t redirection(const TrackingState& state) {
  return state.on ? static_cast<int64_t>(state.redirect) : -1;
}

void client_getredir(Call& call) {
  call.reply.integer(redirection(call.session.listening().tracking));
}

void client_trackinginfo(Call& call) {
  const TrackingState& state = call.session.listening().tracking;
  std::vector<std::string_view> flags = {state.on ? "on" : "off"};
  if (state.broadcasts) flags.push_back("bcast");
  if (state.opts_in) flags.push_back("optin");
  if (state.opts_in && state.caching) flags.push_back("caching-yes");
  if (state.opts_out) flags.push_back("optout");
  if (state.opts_out && state.caching) flags.push_back("caching-no");
  if (state.no_loop) flags.push_back("noloop");
  if (state.redirect_broken) flags.push_back("broken_redirect");
  call.reply.map(3);
  call.reply.bulk("flags");
  call.reply.set(static_cast<int64_t>(flags.size()));
  for (const std::string_view flag : flags) call.reply.bulk(flag);
  call.reply.bulk("redirect");
  call.reply.integer(redirection(state));
  call.reply.bulk("prefixes");
  call.reply.array(static_cast<int64_t>(state.prefixes.size()));
  for (const std::string& prefix : state.prefixes) call.reply.bulk(prefix);
}

constexpr Command tracking_row(Command command) {
  command.flags |= kNoScript | kLoading | kOfClient;
  command.group = "connection";
  return command;
}

constexpr Command kTrackingCommands[] = {
    tracking_row({.name = "client|caching",
                  .arity = 3,
                  .usage = "<YES|NO>",
                  .summary =
                      "Says whether the next command's keys are tracked, in the OPTIN and OPTOUT "
                      "modes.",
                  .since = "6.0.0",
                  .run = client_caching}),
    tracking_row({.name = "client|getredir",
                  .arity = 2,
                  .summary =
                      "Answers which connection gets the word of changes: 0 for this one, -1 when "
                      "nothing is tracked.",
                  .since = "6.0.0",
                  .run = client_getredir}),
    tracking_row(
        {.name = "client|tracking",
         .arity = -3,
         .usage = "<ON|OFF> [REDIRECT client-id] [PREFIX prefix [PREFIX prefix ...]] [BCAST] "
                  "[OPTIN] [OPTOUT] [NOLOOP]",
         .summary = "Sends word when a key changes that the connection has read, or any under a "
                    "prefix.",
         .since = "6.0.0",
         .run = client_tracking}),
    tracking_row({.name = "client|trackinginfo",
                  .arity = 2,
                  .summary = "Answers what the connection tracks.",
                  .since = "6.2.0",
                  .run = client_trackinginfo}),
};

}  // namespace

Commands tracking_commands() { return kTrackingCommands; }

}  // namespace weir::server
