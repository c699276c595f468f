#include "server/http/client_address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "base/ascii.h"

namespace weir::server::http {
namespace {

constexpr size_t kTextMax = 64;  // no address with its port is longer

using Ipv4 = std::array<uint8_t, 4>;
using Ipv6 = std::array<uint8_t, 16>;

std::string_view unquoted(std::string_view text) {
  const bool is_quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

// Answers the value of `for` in an element of Forwarded; nothing if it has none.
std::optional<std::string_view> forwarded_for(std::string_view element) {
  constexpr std::string_view kFor = "for=";
  while (!element.empty()) {
    const size_t end = std::min(element.find(';'), element.size());
    const std::string_view pair = trimmed(element.substr(0, end));
    element.remove_prefix(std::min(end + 1, element.size()));
    if (equals_ignoring_case(pair.substr(0, kFor.size()), kFor))
      return unquoted(pair.substr(kFor.size()));
  }
  return std::nullopt;
}

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5 && std::all_of(text.begin(), text.end(), is_digit);
}

// Answers the text without brackets and port; as it is if it has neither.
std::string_view without_port(std::string_view text) {
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == text.npos) return text;
    const std::string_view rest = text.substr(end + 1);
    const bool fits = rest.empty() || (rest.front() == ':' && is_port(rest.substr(1)));
    return fits ? text.substr(1, end - 1) : text;
  }
  const size_t colon = text.find(':');
  const bool has_port = colon != text.npos && is_port(text.substr(colon + 1));
  return has_port ? text.substr(0, colon) : text;  // an address of IPv6 has a second colon
}

template <typename Address>
std::optional<Address> address_of(int family, std::string_view text) {
  Address address;
  if (inet_pton(family, std::string(text).c_str(), address.data()) != 1) return std::nullopt;
  return address;
}

template <typename Address>
std::string network_of(int family, Address address, int bits) {
  for (size_t i = 0; i < address.size(); ++i) {
    const int kept = std::clamp(bits - static_cast<int>(i) * 8, 0, 8);
    address[i] = static_cast<uint8_t>(address[i] & (0xff00U >> kept));
  }
  char text[INET6_ADDRSTRLEN];
  inet_ntop(family, address.data(), text, sizeof text);
  const bool is_cut = bits < static_cast<int>(address.size()) * 8;
  return std::string(text) + (is_cut ? "/" + std::to_string(bits) : "");
}

std::optional<Ipv4> mapped_ipv4(const Ipv6& address) {
  constexpr std::array<uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (!std::equal(kMapped.begin(), kMapped.end(), address.begin())) return std::nullopt;
  Ipv4 inner;
  std::copy(address.begin() + kMapped.size(), address.end(), inner.begin());
  return inner;
}

std::optional<std::string> network_in(std::string_view text, const AddressBits& bits) {
  if (text.size() > kTextMax || text.find('\0') != text.npos) return std::nullopt;
  text = without_port(text);
  if (const auto ipv4 = address_of<Ipv4>(AF_INET, text))
    return network_of(AF_INET, *ipv4, bits.ipv4);
  const auto ipv6 = address_of<Ipv6>(AF_INET6, text.substr(0, text.find('%')));
  if (!ipv6) return std::nullopt;
  if (const auto ipv4 = mapped_ipv4(*ipv6)) return network_of(AF_INET, *ipv4, bits.ipv4);
  return network_of(AF_INET6, *ipv6, bits.ipv6);
}

}  // namespace

std::string client_address(std::string_view field, const AddressBits& bits) {
  const size_t comma = field.rfind(',');
  const std::string_view last = trimmed(comma == field.npos ? field : field.substr(comma + 1));
  const auto address = network_in(forwarded_for(last).value_or(unquoted(last)), bits);
  return address ? *address : std::string(last);
}

}  // namespace weir::server::http
