#include "server/config/config_checks.h"

#include <algorithm>
#include <string_view>

#include "base/ascii.h"
#include "server/config/config_words.h"
#include "storage/format/shard_identity.h"
#include "storage/replication/plain.h"
#include "storage/shared_logs/nats/address.h"
#include "storage/shared_logs/postgres/address.h"

namespace weir::server {
namespace {

constexpr std::string_view kKeyClasses = "g$lshzxetd";  // what A stands for
constexpr std::string_view kOtherClasses = "nKEmr";

bool* version_of(std::string_view name, TlsVersions* versions) {
  if (equals_ignoring_case(name, "TLSv1")) return &versions->v1_0;
  if (equals_ignoring_case(name, "TLSv1.1")) return &versions->v1_1;
  if (equals_ignoring_case(name, "TLSv1.2")) return &versions->v1_2;
  if (equals_ignoring_case(name, "TLSv1.3")) return &versions->v1_3;
  return nullptr;
}

bool contains(std::string_view set, char c) { return set.find(c) != std::string_view::npos; }

}  // namespace

Result<void, Refusal> accept_path(std::string* value) {
  if (!contains(*value, '\0')) return {};
  return Refusal{.redis = "argument must be a path",
                 .plain = "must be a path without NUL bytes, got " + printable(*value)};
}

Result<void, Refusal> accept_path_not_empty(std::string* value) {
  if (!value->empty()) return accept_path(value);
  return Refusal{.redis = "argument must be a path", .plain = "must be a path, got ''"};
}

Result<void, Refusal> accept_password(std::string* value) {
  if (value->size() <= kPasswordBytesMax) return {};
  return Refusal{.redis = "argument must be a password of at most 16384 bytes",
                 .plain = "must be at most 16384 bytes long, got " + std::to_string(value->size())};
}

Result<void, Refusal> accept_host(std::string* value) {
  const bool fits = std::all_of(value->begin(), value->end(), [](char c) {
    return is_printable(c) && c != ' ' && c != ',' && c != '@' && c != '[' && c != ']';
  });
  if (fits) return {};
  return Refusal{.redis = "argument must be an address or a host name",
                 .plain = "must be an address or a host name, got " + printable(*value)};
}

Result<void, Refusal> accept_seeds(std::string* value) {
  constexpr size_t kSeedsMax = 64;
  const std::vector<std::string_view> words = split_at_spaces(*value);
  std::string seeds;
  for (const std::string_view word : words) {
    if (!storage::replication::is_plain_address(word) || words.size() > kSeedsMax)
      return Refusal{
          .redis = "argument must be addresses host:port",
          .plain = "must be up to 64 addresses host:port with blanks between them, got " +
                   printable(*value)};
    seeds.append(seeds.empty() ? "" : " ").append(word);
  }
  *value = seeds;
  return {};
}

Result<void, Refusal> accept_shared_log(std::string* value) {
  const bool is_file = value->starts_with("file:/") && !value->ends_with('/');
  if (value->empty() || is_file || storage::postgres::is_postgres_address(*value) ||
      storage::nats::is_nats_address(*value))
    return accept_path(value);
  // What is written may hold a password.
  return Refusal{.redis = "argument must be the address of a shared log",
                 .plain =
                     "must be postgres://USER@HOST/DATABASE, nats://HOST, tls://HOST, or file:PATH "
                     "with a PATH that begins with /"};
}

Result<void, Refusal> accept_shard(std::string* value) {
  if (storage::is_shard_name(*value)) return {};
  return Refusal{
      .redis = "argument must be the name of a shard",
      .plain = "must be 1 to 64 letters, digits, '-', '_' and '.', got " + printable(*value)};
}

Result<void, Refusal> accept_uncommitted_commands(std::string* value) {
  if (value->empty()) return {};
  if (equals_ignoring_case(*value, "incr")) {
    *value = "incr";
    return {};
  }
  return Refusal{.redis = "argument must be incr or empty",
                 .plain = "must be incr or empty, got " + printable(*value)};
}

Result<void, Refusal> accept_event_classes(std::string* value) {
  bool all = true;
  for (char c : kKeyClasses) all = all && contains(*value, c);
  all = all || contains(*value, 'A');
  for (char c : *value) {
    if (c == 'A' || contains(kKeyClasses, c) || contains(kOtherClasses, c)) continue;
    return Refusal{
        .redis = "Invalid event class character. Use 'Ag$lshzxeKEtmdnr'.",
        .plain = "must be made of the characters Ag$lshzxeKEtmdnr, got " + printable(*value)};
  }
  std::string ordered = all ? "A" : "";
  for (char c : kKeyClasses) {
    if (!all && contains(*value, c)) ordered += c;
  }
  for (char c : kOtherClasses) {
    if (contains(*value, c)) ordered += c;
  }
  *value = std::move(ordered);
  return {};
}

TlsVersions tls_versions(const std::string& tls_protocols) {
  TlsVersions versions;
  const std::vector<std::string> names = split_blanks(tls_protocols);
  if (names.empty()) return {.v1_2 = true, .v1_3 = true};
  for (const std::string& name : names) {
    if (bool* named = version_of(name, &versions); named != nullptr) *named = true;
  }
  return versions;
}

Result<void, Refusal> accept_tls_protocols(std::string* value) {
  TlsVersions ignored;
  for (const std::string& name : split_blanks(*value)) {
    if (version_of(name, &ignored) != nullptr) continue;
    return Refusal{
        .redis =
            "Invalid tls-protocols specified. Use a combination of TLSv1, TLSv1.1, "
            "TLSv1.2 and TLSv1.3.",
        .plain = "must be some of TLSv1, TLSv1.1, TLSv1.2 and TLSv1.3, got " + printable(*value)};
  }
  return {};
}

}  // namespace weir::server
