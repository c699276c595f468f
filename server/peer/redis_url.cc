#include "server/peer/redis_url.h"

#include <charconv>
#include <cstring>
#include <optional>

#include "base/ascii.h"
#include "base/encoded_bytes.h"
#include "server/peer/host_port.h"

namespace weir::server {
namespace {

constexpr const char* kForm =
    "a source is written redis://[user:password@]host[:port][/db], or rediss:// for TLS";
constexpr int kDatabaseMax = 1 << 30;

std::optional<int> number(std::string_view text, int most) {
  int value = 0;
  const auto end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (text.empty() || !is_digit(text[0]) || read.ec != std::errc() || read.ptr != end ||
      value > most)
    return std::nullopt;
  return value;
}

// Takes what follows the last '@': passwords may hold one that nobody has encoded.
bool take_user(std::string_view* rest, RedisUrl* url) {
  const size_t at = rest->rfind('@');
  if (at == std::string_view::npos) return true;
  const std::string_view both = rest->substr(0, at);
  *rest = rest->substr(at + 1);
  const size_t colon = both.find(':');
  if (colon == std::string_view::npos) return false;  // a user alone says nothing
  const auto user = percent_decoded(both.substr(0, colon));
  const auto password = percent_decoded(both.substr(colon + 1));
  if (!user || !password) return false;
  url->user = *user;
  url->password = *password;
  return true;
}

}  // namespace

std::string RedisUrl::shown() const {
  return (tls ? "rediss://" : "redis://") + host_and_port(host, port);
}

Result<RedisUrl, std::string> parse_redis_url(std::string_view text) {
  RedisUrl url;
  if (text.starts_with("rediss://")) {
    url.tls = true;
    text.remove_prefix(9);
  } else if (text.starts_with("redis://")) {
    text.remove_prefix(8);
  } else {
    return std::string("this is no address of a server: ") + kForm;
  }
  if (!take_user(&text, &url)) return std::string("user and password make no sense: ") + kForm;
  if (const size_t slash = text.find('/'); slash != std::string_view::npos) {
    const std::string_view database = text.substr(slash + 1);
    text = text.substr(0, slash);
    if (!database.empty()) {
      const auto value = number(database, kDatabaseMax);
      if (!value) return std::string("the database is no number: ") + kForm;
      url.database = *value;
    }
  }
  if (!read_host_and_port(text, &url.host, &url.port))
    return std::string("host and port make no sense: ") + kForm;
  return url;
}

void hide_password(char* url) {
  char* const begin = std::strstr(url, "://");
  char* const end = std::strrchr(url, '@');
  if (begin == nullptr || end == nullptr) return;
  char* const colon = std::strchr(begin + 3, ':');
  if (colon == nullptr || colon > end) return;
  for (char* at = colon + 1; at < end; ++at) *at = '*';
}

}  // namespace weir::server
