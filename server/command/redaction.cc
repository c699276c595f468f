#include "server/command/redaction.h"

#include <utility>

#include "base/ascii.h"
#include "server/config/config_options.h"

namespace weir::server {
namespace {

using Shown = std::vector<std::string_view>;

void hide_from(Shown* shown, size_t first) {
  for (size_t at = first; at < shown->size(); ++at) (*shown)[at] = kRedacted;
}

// For example: HELLO 3 AUTH user password SETNAME name
void hide_credentials(Shown* shown) {
  for (size_t at = 2; at + 2 < shown->size(); ++at) {
    if (!equals_ignoring_case((*shown)[at], "AUTH")) continue;
    (*shown)[++at] = kRedacted;
    (*shown)[++at] = kRedacted;
  }
}

void hide_passwords(Shown* shown) {
  for (size_t at = 2; at + 1 < shown->size(); at += 2) {
    if (is_secret_option((*shown)[at])) (*shown)[at + 1] = kRedacted;
  }
}

// A rule about a password begins with one of these; in its place stands what is done with it.
void hide_passwords_of_rules(Shown* shown) {
  constexpr std::pair<char, std::string_view> kHidden[] = {
      {'>', ">(redacted)"}, {'<', "<(redacted)"}, {'#', "#(redacted)"}, {'!', "!(redacted)"}};
  for (size_t at = 3; at < shown->size(); ++at) {
    for (const auto& [begin, hidden] : kHidden) {
      if ((*shown)[at].starts_with(begin)) (*shown)[at] = hidden;
    }
  }
}

}  // namespace

std::vector<std::string_view> redacted(const Command& command, Args args) {
  Shown shown(args.begin(), args.end());
  switch (command.secrets) {
    case Secrets::kNone:
      break;
    case Secrets::kAll:
    case Secrets::kRules:
      hide_from(&shown, command.is_subcommand() ? 2 : 1);
      break;
    case Secrets::kAfterAuth:
      hide_credentials(&shown);
      break;
    case Secrets::kPasswords:
      hide_passwords(&shown);
      break;
  }
  return shown;
}

std::vector<std::string_view> audited(const Command& command, Args args) {
  if (command.secrets != Secrets::kRules) return redacted(command, args);
  Shown shown(args.begin(), args.end());
  hide_passwords_of_rules(&shown);
  return shown;
}

std::string without_hashes(std::string_view line) {
  std::string shown;
  for (const std::string_view word : split_at_spaces(line)) {
    if (!shown.empty()) shown += ' ';
    shown += word.starts_with('#') ? "#(redacted)" : word;
  }
  return shown;
}

}  // namespace weir::server
