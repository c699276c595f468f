// Feeds the reader of ACL files arbitrary text. Demands that what it refuses has an error; and that
// the users it accepts, written as a file, are read back as equal users that are allowed and
// refused the same requests.
//
// Input: the file's text.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "server/acl/users.h"
#include "server/command/command_table.h"
#include "server/commands/command_lists.h"

namespace {

using weir::server::CommandTable;
using weir::server::acl::User;
using weir::server::acl::Users;
using Words = std::vector<std::string_view>;

void check(bool holds) {
  if (!holds) std::abort();
}

// Requests with no key, a read and a written key, several keys, a subcommand, a channel.
const std::array<Words, 8> kRequests = {{{"PING"},
                                         {"GET", "a"},
                                         {"SET", "limit:1", "x"},
                                         {"COPY", "a", "limit:2"},
                                         {"RL.TAKE", "limit:1", "GCRA", "5/1s"},
                                         {"CONFIG", "GET", "port"},
                                         {"CLIENT", "ID"},
                                         {"PUBLISH", "news", "x"}}};

void check_same(const CommandTable& table, const User& one, const User& other) {
  check(one.line() == other.line());
  check(one.enabled() == other.enabled() && one.passwords() == other.passwords());
  check(one.needs_no_password() == other.needs_no_password());
  check(one.unrestricted() == other.unrestricted());
  for (const Words& request : kRequests) {
    const auto* command = table.resolve(request);
    check(command != nullptr);
    check(one.check(*command, request).denial == other.check(*command, request).denial);
    check(one.reads_any_key(*command, request) == other.reads_any_key(*command, request));
  }
  for (const std::string_view channel : {"news", "a", "*"}) {
    for (const bool pattern : {false, true})
      check(one.allows_channel(channel, pattern) == other.allows_channel(channel, pattern));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const CommandTable table(weir::server::command_lists());
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Users users(&table, false);
  if (!users.load(text, "users.acl")) return 0;
  const std::string written = users.text();
  Users again(&table, false);
  check(again.load(written, "again.acl").ok());
  check(again.text() == written);
  check(again.all().size() == users.all().size());
  for (const auto& [name, user] : users.all()) {
    const auto same = again.find(name);
    check(same != nullptr);
    check_same(table, *user, *same);
  }
  return 0;
}
