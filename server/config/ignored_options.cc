#include "server/config/ignored_options.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/ascii.h"
#include "resp/numbers.h"
#include "server/config/config_words.h"

namespace weir::server {
namespace {

using Kind = IgnoredOption::Kind;

constexpr IgnoredOption kIgnored[] = {
    {"active-defrag-cycle-max", "", "25", Kind::kNumber},
    {"active-defrag-cycle-min", "", "1", Kind::kNumber},
    {"active-defrag-ignore-bytes", "", "104857600", Kind::kBytes},
    {"active-defrag-max-scan-fields", "", "1000", Kind::kNumber},
    {"active-defrag-threshold-lower", "", "10", Kind::kNumber},
    {"active-defrag-threshold-upper", "", "100", Kind::kNumber},
    {"active-expire-effort", "", "1", Kind::kNumber},
    {"activedefrag", "", "no", Kind::kYesNo},
    {"activerehashing", "", "yes", Kind::kYesNo},
    {"aof-rewrite-incremental-fsync", "", "yes", Kind::kYesNo},
    {"auto-aof-rewrite-min-size", "", "67108864", Kind::kBytes},
    {"auto-aof-rewrite-percentage", "", "100", Kind::kNumber},
    {"dynamic-hz", "", "yes", Kind::kYesNo},
    {"hash-max-listpack-entries", "hash-max-ziplist-entries", "512", Kind::kNumber},
    {"hash-max-listpack-value", "hash-max-ziplist-value", "64", Kind::kBytes},
    {"hll-sparse-max-bytes", "", "3000", Kind::kBytes},
    {"jemalloc-bg-thread", "", "yes", Kind::kYesNo},
    {"lazyfree-lazy-eviction", "", "no", Kind::kYesNo},
    {"lazyfree-lazy-expire", "", "no", Kind::kYesNo},
    {"lazyfree-lazy-server-del", "", "no", Kind::kYesNo},
    {"lazyfree-lazy-user-del", "", "no", Kind::kYesNo},
    {"lazyfree-lazy-user-flush", "", "no", Kind::kYesNo},
    {"lfu-decay-time", "", "1", Kind::kNumber},
    {"lfu-log-factor", "", "10", Kind::kNumber},
    {"list-compress-depth", "", "0", Kind::kNumber},
    {"list-max-listpack-size", "list-max-ziplist-size", "-2", Kind::kNumber},
    {"maxmemory-eviction-tenacity", "", "10", Kind::kNumber},
    {"maxmemory-policy", "", "noeviction", Kind::kEvictionPolicy},
    {"maxmemory-samples", "", "5", Kind::kNumber},
    {"no-appendfsync-on-rewrite", "", "no", Kind::kYesNo},
    {"rdb-save-incremental-fsync", "", "yes", Kind::kYesNo},
    {"rdbcompression", "", "yes", Kind::kYesNo},
    {"sanitize-dump-payload", "", "no", Kind::kYesNo},
    {"set-max-intset-entries", "", "512", Kind::kNumber},
    {"stop-writes-on-bgsave-error", "", "yes", Kind::kYesNo},
    {"stream-node-max-bytes", "", "4096", Kind::kBytes},
    {"stream-node-max-entries", "", "100", Kind::kNumber},
    {"zset-max-listpack-entries", "zset-max-ziplist-entries", "128", Kind::kNumber},
    {"zset-max-listpack-value", "zset-max-ziplist-value", "64", Kind::kBytes},
};

constexpr std::string_view kPolicies[] = {"volatile-lru",   "volatile-lfu", "volatile-random",
                                          "volatile-ttl",   "allkeys-lru",  "allkeys-lfu",
                                          "allkeys-random", "noeviction"};

bool is_in(std::span<const std::string_view> words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::span<const IgnoredOption> ignored_options() { return kIgnored; }

const IgnoredOption* find_ignored(std::string_view name) {
  for (const IgnoredOption& option : kIgnored) {
    if (equals_ignoring_case(name, option.name)) return &option;
    if (!option.alias.empty() && equals_ignoring_case(name, option.alias)) return &option;
  }
  return nullptr;
}

bool set_ignored(const IgnoredOption& option, std::string_view value, Config* config) {
  constexpr std::array<std::string_view, 2> kYesNo = {"yes", "no"};
  std::string kept = to_lower(value);
  if (option.kind == Kind::kYesNo && !is_in(kYesNo, kept)) return false;
  if (option.kind == Kind::kEvictionPolicy && !is_in(kPolicies, kept)) return false;
  if (option.kind == Kind::kNumber && !resp::parse_int64(kept)) return false;
  if (option.kind == Kind::kBytes) {
    const auto bytes = parse_size(kept);
    if (!bytes) return false;
    kept = std::to_string(*bytes);
  }
  config->ignored.insert_or_assign(std::string(option.name), std::move(kept));
  return true;
}

std::string_view ignored_value(const IgnoredOption& option, const Config& config) {
  const auto kept = config.ignored.find(option.name);
  return kept == config.ignored.end() ? option.value : std::string_view(kept->second);
}

}  // namespace weir::server
