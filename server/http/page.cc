#include "server/http/page.h"

#include <algorithm>
#include <span>

#include "algorithms/words.h"
#include "base/ascii.h"
#include "server/http/format/json.h"
#include "server/os/addresses.h"

namespace weir::server::http {
namespace {

constexpr std::string_view kPolicyOfContent =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

struct Allowed {
  std::string_view command;
  std::string_view subcommand = {};  // empty: any word may follow
  bool changes = false;
  std::string_view option = {};  // CONFIG SET: this one, with one value, and no other
};
constexpr Allowed kAllowed[] = {
    {"RL.TOP", "DENIED"},
    {"RL.TOP", "TAKEN"},
    {"RL.TOP", "SHADOW"},
    {"RL.INFO"},
    {"RL.PEEK"},
    {"RL.POLICY", "LIST"},
    {"RL.POLICY", "GET"},
    {"RL.POLICY", "STATS"},
    {"RL.POLICY", "HISTORY"},
    {"RL.POLICY", "OVERRIDES"},
    {"RL.POLICY", "SET", true},
    {"RL.POLICY", "DEL", true},
    {"CONFIG", "SET", true, "limiting"},
    {"WEIR", "SHARDS"},
    {"WEIR", "STATUS"},
    {"SLOWLOG", "GET"},
    {"CLIENT", "LIST"},
    {"ACL", "WHOAMI"},
    {"SELECT"},
};

const Allowed* find_allowed(std::span<const std::string> words) {
  const auto fits = [words](const Allowed& row) {
    return !words.empty() && equals_ignoring_case(row.command, words[0]) &&
           (row.subcommand.empty() ||
            (words.size() > 1 && equals_ignoring_case(row.subcommand, words[1]))) &&
           (row.option.empty() ||
            (words.size() == 4 && equals_ignoring_case(row.option, words[2])));
  };
  const auto* const row = std::find_if(std::begin(kAllowed), std::end(kAllowed), fits);
  return row == std::end(kAllowed) ? nullptr : row;
}

std::string list_of_allowed() {
  std::string list;
  for (const Allowed& row : kAllowed) {
    list.append(list.empty() ? "" : ", ").append(row.command);
    if (!row.subcommand.empty()) list.append(" ").append(row.subcommand);
    if (!row.option.empty()) list.append(" ").append(row.option);
  }
  return list;
}

// "weir.example:9121" or "[::1]:9121" without its port and brackets.
std::string_view name_of(std::string_view host) {
  if (host.starts_with('[')) {
    const size_t end = host.find(']');
    return end == host.npos ? std::string_view() : host.substr(1, end - 1);
  }
  return host.substr(0, host.find(':'));
}

bool is_known(std::string_view host, const std::vector<std::string>& hosts) {
  const std::string_view name = name_of(host);
  if (host.find(',') != host.npos) return false;  // several fields
  if (is_ip_address(name) || is_own_name(name)) return true;
  return std::any_of(hosts.begin(), hosts.end(), [name](const std::string& known) {
    return equals_ignoring_case(known, name);
  });
}

// Tells whether a browser's field Origin, "https://weir.example:9121", is of that host.
bool is_origin_of(std::string_view origin, std::string_view host) {
  const size_t slashes = origin.find("://");
  return slashes != origin.npos && equals_ignoring_case(origin.substr(slashes + 3), host);
}

std::string unknown_host(std::string_view host) {
  return "DENIED weir is not known as " + algorithms::shown(name_of(host)) +
         " here: metrics-hosts has the names that browsers may use beside addresses and localhost";
}

}  // namespace

const PagePart* find_page_part(std::string_view path) {
  const auto parts = page_parts();
  const auto found = std::find_if(parts.begin(), parts.end(),
                                  [path](const PagePart& part) { return part.path == path; });
  return found == parts.end() ? nullptr : &*found;
}

Answer page_answer(const PagePart& part, std::string_view host,
                   const std::vector<std::string>& hosts) {
  if (!is_known(host, hosts)) return error_answer(unknown_host(host));
  return {.content_type = part.content_type,
          .fields = {{"Content-Security-Policy", std::string(kPolicyOfContent)},
                     {"X-Frame-Options", "DENY"},
                     {"Referrer-Policy", "no-referrer"},
                     {"Cross-Origin-Opener-Policy", "same-origin"},
                     {"Cross-Origin-Resource-Policy", "same-origin"}},
          .body = std::string(part.body)};
}

std::string fault_of_page_request(const Request& request, const std::vector<std::string>& hosts) {
  const std::string host = combined(request.fields, "Host").value_or("");
  if (!is_known(host, hosts)) return unknown_host(host);
  const auto origin = combined(request.fields, "Origin");
  if (origin && !is_origin_of(*origin, host))
    return "DENIED the request comes from a page of " + algorithms::shown(*origin);
  const auto site = combined(request.fields, "Sec-Fetch-Site");
  if (site && *site != "same-origin") return "DENIED the request comes from a page of another site";
  if (!combined(request.fields, "Content-Type").value_or("").starts_with("application/json"))
    return "ERR the body must be application/json";
  return {};
}

Result<std::vector<Words>, std::string> page_commands(std::string_view body, bool logged_in) {
  auto commands = commands_of_json(body);
  if (!commands) return commands;
  if (commands->empty() || commands->size() > kPageCommandsMax)
    return "ERR there must be 1 to " + std::to_string(kPageCommandsMax) + " commands, got " +
           std::to_string(commands->size());
  for (const Words& words : *commands) {
    const bool only_asks = !words.empty() && words[0] == kMay;
    const Allowed* row = find_allowed(std::span(words).subspan(only_asks ? 1 : 0));
    if (row == nullptr)
      return "ERR the page may run " + list_of_allowed() + ", got " +
             algorithms::shown(words.empty() ? "" : words[0]);
    if (row->changes && !logged_in && !only_asks)
      return std::string("NOAUTH policies and limiting are changed by a user who has logged in");
  }
  return commands;
}

}  // namespace weir::server::http
