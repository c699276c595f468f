#include "storage/shared_logs/nats/address.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <utility>

namespace weir::storage::nats {
namespace {

constexpr std::string_view kPlain = "nats://";
constexpr std::string_view kEncrypted = "tls://";
constexpr const char* kForm =
    "nats://[USER@]HOST[:PORT][,HOST[:PORT]...], or tls:// with the same and perhaps "
    "?tlsca=/FILE&tlscert=/FILE&tlskey=/FILE";
constexpr std::string_view kUsualPort = "4222";
constexpr uint32_t kPortMax = 65535;

bool is_letter_or_digit(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9');
}

bool holds_only(std::string_view text, std::string_view others) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char character) {
    return is_letter_or_digit(character) || others.find(character) != std::string_view::npos;
  });
}

bool is_port(std::string_view text) {
  uint32_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port > 0 && port <= kPortMax;
}

// With its port; nothing if it is no host.
std::optional<std::string> host_of(std::string_view text) {
  const size_t bracket = text.find(']');
  const bool is_number_6 = text.starts_with('[') && bracket != std::string_view::npos;
  const size_t colon = text.find(':', is_number_6 ? bracket : 0);
  const std::string_view name = text.substr(0, colon);
  const std::string_view port =
      colon == std::string_view::npos ? kUsualPort : text.substr(colon + 1);
  const bool is_name = is_number_6
                           ? name.ends_with(']') && holds_only(name.substr(1, bracket - 1), ":.%")
                           : holds_only(name, ".-_");
  if (!is_name || !is_port(port)) return std::nullopt;
  return std::string(name) + ":" + std::string(port);
}

// Of what stands after the question mark. Answers whether it is such.
bool take_files(std::string_view text, Address* address) {
  const std::pair<std::string_view, std::string*> known[] = {
      {"tlsca=/", &address->authority_file},
      {"tlscert=/", &address->certificate_file},
      {"tlskey=/", &address->key_file}};
  while (true) {
    const std::string_view option = text.substr(0, text.find('&'));
    const auto found = std::find_if(std::begin(known), std::end(known), [&](const auto& one) {
      return option.starts_with(one.first) && one.second->empty();
    });
    if (found == std::end(known) || option.find('?') != std::string_view::npos) return false;
    *found->second = option.substr(found->first.size() - 1);
    if (option.size() == text.size()) return true;
    text = text.substr(option.size() + 1);
  }
}

// Without what stands in the address: it may be a password.
std::string wrong(const std::string& what) {
  return "the address of the shared log " + what + "; its form is " + kForm;
}

}  // namespace

bool is_nats_address(std::string_view text) {
  return text.starts_with(kPlain) || text.starts_with(kEncrypted);
}

Result<Address, std::string> parse_address(std::string_view text) {
  if (!is_nats_address(text)) return wrong("begins with neither nats:// nor tls://");
  Address address;
  address.is_encrypted = text.starts_with(kEncrypted);
  const std::string_view scheme = address.is_encrypted ? kEncrypted : kPlain;
  std::string_view rest = text.substr(scheme.size());
  if (const size_t options = rest.find('?'); options != std::string_view::npos) {
    if (!address.is_encrypted) return wrong("has a ? after nats://");
    if (!take_files(rest.substr(options + 1), &address))
      return wrong("has something else than files after the ?, or one twice");
    if (address.certificate_file.empty() != address.key_file.empty())
      return std::string("the address of the shared log has one of tlscert and tlskey alone");
    rest = rest.substr(0, options);
  }
  if (const size_t at = rest.rfind('@'); at != std::string_view::npos) {
    const std::string_view user = rest.substr(0, at);
    if (user.find(':') != std::string_view::npos)
      return std::string(
          "the address of the shared log must not hold a password: it belongs in the file that "
          "log-password-file names");
    if (!holds_only(user, ".-_"))
      return wrong("has a user with other characters than letters, digits, '.', '-' and '_'");
    address.user = user;
    rest = rest.substr(at + 1);
  }
  while (true) {
    if (!address.hosts.empty() && rest.starts_with(scheme)) rest = rest.substr(scheme.size());
    const size_t comma = rest.find(',');
    auto host = host_of(rest.substr(0, comma));
    if (!host)
      return wrong("has no host, or not a port, at place " +
                   std::to_string(address.hosts.size() + 1) + " of its list");
    address.hosts.push_back(std::move(*host));
    if (comma == std::string_view::npos) return address;
    rest = rest.substr(comma + 1);
  }
}

}  // namespace weir::storage::nats
