#include "server/command/redaction.h"

#include "resp/numbers.h"

namespace weir::server {
namespace {

using Shown = std::vector<std::string_view>;

void hide_from(Shown* shown, size_t first) {
  for (size_t at = first; at < shown->size(); ++at) (*shown)[at] = kRedacted;
}

// For example: HELLO 3 AUTH user password SETNAME name
void hide_credentials(Shown* shown) {
  for (size_t at = 2; at + 2 < shown->size(); ++at) {
    if (!resp::equals_ignoring_case((*shown)[at], "AUTH")) continue;
    (*shown)[++at] = kRedacted;
    (*shown)[++at] = kRedacted;
  }
}

void hide_passwords(Shown* shown) {
  for (size_t at = 2; at + 1 < shown->size(); at += 2) {
    const std::string_view option = (*shown)[at];
    if (resp::equals_ignoring_case(option, "requirepass")) (*shown)[at + 1] = kRedacted;
  }
}

}  // namespace

std::vector<std::string_view> redacted(const Command& command, Args args) {
  Shown shown(args.begin(), args.end());
  if (command.name == "auth") hide_from(&shown, 1);
  if (command.name == "acl|setuser") hide_from(&shown, 2);
  if (command.name == "hello") hide_credentials(&shown);
  if (command.name == "config|set") hide_passwords(&shown);
  return shown;
}

}  // namespace weir::server
