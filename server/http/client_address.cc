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

// Whether a quoted string has the character for its own: an odd number of '\\' stands before it
// (RFC 9110, 5.6.4).
bool is_escaped(std::string_view text, size_t at) {
  size_t first = at;
  while (first > 0 && text[first - 1] == '\\') --first;
  return (at - first) % 2 == 1;
}

// Answers where the last separator stands that is in no quoted string; npos if there is none. It is
// looked for from the end, since what stands before the proxy's own element may have a quote that
// nothing ends. Where the text itself has one, quotes mean nothing.
size_t find_last_unquoted(std::string_view text, char separator) {
  bool is_quoted = false;
  for (size_t i = text.size(); i-- > 0;) {
    if (text[i] == '"' && !is_escaped(text, i)) is_quoted = !is_quoted;
    if (text[i] == separator && !is_quoted) return i;
  }
  return is_quoted ? text.rfind(separator) : text.npos;
}

// Answers what comes after the last separator, which is cut off with it.
std::string_view cut_last(std::string_view* text, char separator) {
  const size_t at = find_last_unquoted(*text, separator);
  const std::string_view last = trimmed(at == text->npos ? *text : text->substr(at + 1));
  *text = text->substr(0, at == text->npos ? 0 : at);
  return last;
}

// Answers the value of `for` in an element of Forwarded, the first if there are several; nothing if
// there is none.
std::optional<std::string_view> forwarded_for(std::string_view element) {
  constexpr std::string_view kFor = "for=";
  std::optional<std::string_view> value;
  while (!element.empty()) {
    const std::string_view pair = cut_last(&element, ';');
    if (equals_ignoring_case(pair.substr(0, kFor.size()), kFor))
      value = unquoted(pair.substr(kFor.size()));
  }
  return value;
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
  const std::string_view last = cut_last(&field, ',');
  const auto node = forwarded_for(last);
  const auto address = network_in(node.value_or(unquoted(last)), bits);
  return address ? *address : std::string(node ? without_port(*node) : last);
}

}  // namespace weir::server::http
