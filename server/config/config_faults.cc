#include "server/config/config_faults.h"

#include <algorithm>
#include <string_view>

namespace weir::server {
namespace {

using BindWords = std::vector<std::string>;

struct NamedPort {
  std::string_view option;
  int64_t port;
  const BindWords& addresses;
};

// "-" in front of an address: it is skipped where it is not on this machine.
std::string_view without_mark(std::string_view address) {
  if (address.starts_with('-')) address.remove_prefix(1);
  return address;
}

bool is_version_6(std::string_view address) { return address.find(':') != address.npos; }

bool is_every(std::string_view address) {
  return address == "*" || address == "0.0.0.0" || address == "::" || address == "::*";
}

bool are_one(std::string_view one, std::string_view other) {
  if (is_version_6(one) != is_version_6(other)) return false;
  return one == other || is_every(one) || is_every(other);
}

bool share_an_address(const BindWords& some, const BindWords& others) {
  return std::any_of(some.begin(), some.end(), [&](std::string_view one) {
    return std::any_of(others.begin(), others.end(), [one](std::string_view other) {
      return are_one(without_mark(one), without_mark(other));
    });
  });
}

void find_equal_ports(const Config& config, std::vector<std::string>* faults) {
  const NamedPort ports[] = {{"port", config.port, config.bind},
                             {"tls-port", config.tls_port, config.bind},
                             {"http-port", config.http_port, config.http_bind},
                             {"http-tls-port", config.http_tls_port, config.http_bind},
                             {"grpc-port", config.grpc_port, config.grpc_bind},
                             {"grpc-tls-port", config.grpc_tls_port, config.grpc_bind},
                             {"metrics-port", config.metrics_port, config.metrics_bind},
                             {"metrics-tls-port", config.metrics_tls_port, config.metrics_bind}};
  for (const NamedPort* one = std::begin(ports); one != std::end(ports); ++one) {
    for (const NamedPort* other = one + 1; other != std::end(ports); ++other) {
      if (one->port == 0 || one->port != other->port ||
          !share_an_address(one->addresses, other->addresses))
        continue;
      faults->push_back(std::string(one->option) + " and " + std::string(other->option) +
                        " are both " + std::to_string(one->port));
    }
  }
}

}  // namespace

std::vector<std::string> config_faults(const Config& config, int64_t memory_bytes) {
  std::vector<std::string> faults;
  if (config.port == 0 && config.tls_port == 0 && config.http_port == 0 &&
      config.http_tls_port == 0 && config.grpc_port == 0 && config.grpc_tls_port == 0 &&
      config.unixsocket.empty())
    faults.emplace_back(
        "nothing to listen on: port, tls-port, http-port, http-tls-port, grpc-port and "
        "grpc-tls-port are 0, and unixsocket is not set");
  find_equal_ports(config, &faults);
  const bool has_grpc = config.grpc_port != 0 || config.grpc_tls_port != 0;
  if (has_grpc && config.policies_file.empty())
    faults.emplace_back(
        "grpc-port is set, and policies-file, which has its rules, is not: every call is refused");
  if (config.maxmemory > memory_bytes) {
    faults.push_back("maxmemory is " + std::to_string(config.maxmemory) + " bytes, more than the " +
                     std::to_string(memory_bytes) + " that this process may have");
  }
  return faults;
}

}  // namespace weir::server
