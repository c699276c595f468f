#include "storage/shared_logs/postgres/address.h"

#include <arpa/inet.h>
#include <libpq-fe.h>

#include <cstdlib>
#include <memory>

#include "base/one_line.h"

namespace weir::storage::postgres {
namespace {

constexpr std::string_view kSchemes[] = {"postgres://", "postgresql://"};
constexpr const char* kForm =
    "postgres://USER@HOST[:PORT][,HOST[:PORT]...]/DATABASE[?OPTION=VALUE...]";

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> items;
  size_t begin = 0;
  while (true) {
    const size_t comma = list.find(',', begin);
    items.push_back(list.substr(begin, comma - begin));
    if (comma == std::string::npos) return items;
    begin = comma + 1;
  }
}

// A userinfo with a colon, or the word itself.
bool may_hold_password(std::string_view text) {
  const std::string_view rest = text.substr(text.find("://") + 3);
  const size_t at = rest.rfind('@');
  return text.find("password") != std::string_view::npos ||
         (at != std::string_view::npos && rest.substr(0, at).find(':') != std::string_view::npos);
}

// The hosts of three lists of libpq; one port is that of all.
Result<std::vector<Host>, std::string> hosts_of(const std::string& names,
                                                const std::string& addresses,
                                                const std::string& ports) {
  const std::vector<std::string> name = split(names);
  const std::vector<std::string> address = split(addresses);
  const std::vector<std::string> port = split(ports);
  const size_t count = addresses.empty() ? name.size() : address.size();
  if (!addresses.empty() && !names.empty() && name.size() != address.size())
    return std::string(
        "the address of the shared log has another number of hosts than of hostaddr");
  if (port.size() != 1 && port.size() != count)
    return std::string("the address of the shared log has another number of ports than of hosts");
  std::vector<Host> hosts;
  for (size_t i = 0; i < count; ++i) {
    hosts.push_back({.name = names.empty() ? "" : name[i],
                     .address = addresses.empty() ? "" : address[i],
                     .port = port.size() == 1 ? port[0] : port[i]});
  }
  return hosts;
}

std::string refusal_of(const std::string& option, const std::string& value) {
  if (option == "password")
    return "the address of the shared log must not hold a password: it belongs in the file that "
           "log-password-file names, or in the one that PGPASSFILE names";
  if (option == "service")
    return "the address of the shared log names its hosts itself: 'service' is not accepted";
  if (option == "target_session_attrs" && value != "read-write")
    return "the shared log is on the server that takes writes: target_session_attrs is read-write "
           "or left out, got '" +
           value + "'";
  return "";
}

}  // namespace

bool is_postgres_address(std::string_view text) {
  for (const std::string_view scheme : kSchemes)
    if (text.starts_with(scheme)) return true;
  return false;
}

Result<Address, std::string> parse_address(const std::string& text) {
  if (!is_postgres_address(text))
    return std::string("the address of a shared log on PostgreSQL is ") + kForm;
  char* reason = nullptr;
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> parsed(
      PQconninfoParse(text.c_str(), &reason), &PQconninfoFree);
  const std::unique_ptr<char, decltype(&PQfreemem)> owned(reason, &PQfreemem);
  if (!parsed) {
    const bool tells = reason != nullptr && !may_hold_password(text);
    return std::string("the address of the shared log is not ") + kForm +
           (tells ? ": " + one_line(reason) : "");
  }
  Address address;
  std::string names, addresses, ports;
  for (const PQconninfoOption* option = parsed.get(); option->keyword != nullptr; ++option) {
    if (option->val == nullptr) continue;
    const std::string name = option->keyword;
    const std::string value = option->val;
    if (const std::string refused = refusal_of(name, value); !refused.empty()) return refused;
    if (name == "host") {
      names = value;
    } else if (name == "hostaddr") {
      addresses = value;
    } else if (name == "port") {
      ports = value;
    } else {
      address.options.emplace_back(name, value);
    }
  }
  if (const char* usual = std::getenv("PGHOST"); usual && names.empty() && addresses.empty())
    names = usual;
  auto hosts = hosts_of(names, addresses, ports);
  if (!hosts) return hosts.error();
  address.hosts = std::move(*hosts);
  return address;
}

bool needs_no_look_up(const Host& host) {
  const char first = host.name.empty() ? '/' : host.name[0];
  in6_addr number{};
  return !host.address.empty() || first == '/' || first == '@' ||
         ::inet_pton(AF_INET, host.name.c_str(), &number) == 1 ||
         ::inet_pton(AF_INET6, host.name.c_str(), &number) == 1;
}

}  // namespace weir::storage::postgres
