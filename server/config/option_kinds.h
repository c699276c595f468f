// What the table of options is written with: bounds, the words of choices, and kinds.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "base/time_units.h"
#include "server/config/config_checks.h"
#include "server/config/option.h"

namespace weir::server {

inline constexpr int64_t kInt32Max = INT32_MAX;
inline constexpr int64_t kInt64Max = INT64_MAX;
inline constexpr int64_t kKb = 1 << 10, kMb = 1 << 20;
inline constexpr auto kAtStart = Changeable::kAtStart;

// Each list has the order of its enumeration in config.h.
inline constexpr std::array<std::string_view, 3> kDurabilities = {"always", "everysec", "no"};
inline constexpr std::array<std::string_view, 2> kStorageForms = {"rocksdb", "memory"};
inline constexpr std::array<std::string_view, 2> kFailurePolicies = {"deny", "memory"};
inline constexpr std::array<std::string_view, 3> kLimitings = {"on", "shadow", "off"};
inline constexpr std::array<std::string_view, 3> kDebugAccesses = {"no", "yes", "local"};
inline constexpr std::array<std::string_view, 3> kSupervisions = {"no", "systemd", "auto"};
inline constexpr std::array<std::string_view, 2> kPubsubDefaults = {"allchannels", "resetchannels"};
inline constexpr std::array<std::string_view, 3> kTlsAuthClients = {"no", "yes", "optional"};
inline constexpr std::array<std::string_view, 2> kTlsUsers = {"off", "CN"};
inline constexpr std::array<std::string_view, 8> kLogLevels = {
    "trace", "debug", "verbose", "notice", "info", "warning", "error", "nothing"};
inline constexpr std::array<std::string_view, 2> kLogFormats = {"text", "json"};

template <auto field>
constexpr Choice choice(std::span<const std::string_view> names) {
  return {.names = names,
          .get = [](const Config& config) { return static_cast<size_t>(config.*field); },
          .set =
              [](Config* config, size_t index) {
                auto& value = config->*field;
                value = static_cast<std::remove_reference_t<decltype(value)>>(index);
              }};
}

constexpr Number bytes(int64_t Config::*field, int64_t min, int64_t max = kInt64Max) {
  return {field, min, max, Unit::kBytes};
}

}  // namespace weir::server
