#include "tools/weir_bench/options.h"

#include <cstdlib>
#include <string>

#include "resp/numbers.h"

namespace weir::bench {
namespace {

constexpr int64_t kSecondsMax = 36'000;  // of one run

struct KindName {
  std::string_view name;
  Kind kind;
};
constexpr KindName kKinds[] = {{"ping", Kind::kPing},       {"set", Kind::kSet},
                               {"get", Kind::kGet},         {"throttle", Kind::kThrottle},
                               {"evalsha", Kind::kEvalsha}, {"throttlecrab", Kind::kThrottlecrab},
                               {"zadd", Kind::kZadd},       {"zwindow", Kind::kZwindow},
                               {"hincrby", Kind::kHincrby}, {"hset", Kind::kHset},
                               {"list", Kind::kList},       {"members", Kind::kMembers}};

struct Row {
  std::string_view name;
  std::string_view help;
  int64_t Options::*number = nullptr;
  double Options::*real = nullptr;
  bool Options::*flag = nullptr;
  int64_t min = 0;
  int64_t max = INT64_MAX;
};

constexpr Row kRows[] = {
    {.name = "port",
     .help = "port of the server",
     .number = &Options::port,
     .min = 1,
     .max = 65535},
    {.name = "connections",
     .help = "(50)",
     .number = &Options::connections,
     .min = 1,
     .max = 10000},
    {.name = "pipeline",
     .help = "requests sent at once on each connection (1)",
     .number = &Options::pipeline,
     .min = 1,
     .max = 10000},
    {.name = "keys",
     .help = "uniformly random keys (100000)",
     .number = &Options::keys,
     .min = 1,
     .max = 1'000'000'000},
    {.name = "value-bytes",
     .help = "of SET (24)",
     .number = &Options::value_bytes,
     .min = 1,
     .max = 1 << 16},
    {.name = "expire", .help = "seconds, of SET (86400)", .number = &Options::expire_s, .min = 1},
    {.name = "burst", .help = "max_burst (1000000)", .number = &Options::max_burst},
    {.name = "count", .help = "permits per period (1)", .number = &Options::count, .min = 1},
    {.name = "period", .help = "seconds (3000)", .number = &Options::period_s, .min = 1},
    {.name = "elements",
     .help = "of a connection, in all its collections (100000)",
     .number = &Options::elements,
     .min = 1,
     .max = 1'000'000'000},
    {.name = "size",
     .help = "elements in each collection (1000)",
     .number = &Options::size,
     .min = 1,
     .max = 1'000'000'000},
    {.name = "skip",
     .help = "steps on collections that earlier runs have made (0)",
     .number = &Options::skip,
     .max = 1'000'000'000'000},
    {.name = "seconds", .help = "length of the measurement (5)", .real = &Options::seconds},
    {.name = "warmup", .help = "seconds before it (1)", .real = &Options::warmup_s},
    {.name = "requests",
     .help = "end after so many instead, and measure them all",
     .number = &Options::requests},
    {.name = "fill", .help = "every key once, in order, and measure all", .flag = &Options::fill},
    {.name = "rate",
     .help = "open loop: requests per second, late or not",
     .number = &Options::rate,
     .max = 100'000'000},
    {.name = "time-limit", .help = "seconds for it all (900)", .real = &Options::time_limit_s},
    {.name = "pid", .help = "process whose CPU time to measure", .number = &Options::server_pid},
    {.name = "series", .help = "a line for each second", .flag = &Options::series},
    {.name = "json", .help = "one line of JSON instead", .flag = &Options::json},
};

std::string names_of_kinds() {
  std::string names;
  for (const KindName& known : kKinds) {
    names.append(names.empty() ? "" : "|").append(known.name);
  }
  return names;
}

using Parsed = Result<void, std::string>;

Parsed check_together(const Options& options) {
  if (options.port == 0) return "--port must be given";
  if (!is_collection(options.kind)) return {};
  if (options.elements % options.size != 0) return "--size must divide --elements";
  if (!options.fill && options.requests == 0) return "collections need --requests or --fill";
  return {};
}

Parsed parse_kind(std::string_view text, Kind* kind) {
  for (const KindName& known : kKinds) {
    if (known.name != text) continue;
    *kind = known.kind;
    return {};
  }
  return "--command must be one of " + names_of_kinds() + ", got '" + std::string(text) + "'";
}

Parsed parse_row(const Row& row, std::string_view text, Options* options) {
  if (row.real != nullptr) {
    const auto value = resp::parse_double(text);
    if (value && *value >= 0 && *value <= kSecondsMax) {
      options->*row.real = *value;
      return {};
    }
    return "--" + std::string(row.name) + " must be between 0 and " + std::to_string(kSecondsMax) +
           " seconds";
  }
  const auto value = resp::parse_int64(text);
  if (value && *value >= row.min && *value <= row.max) {
    options->*row.number = *value;
    return {};
  }
  return "--" + std::string(row.name) + " must be an integer from " + std::to_string(row.min) +
         " to " + std::to_string(row.max);
}

Parsed parse_named(std::string_view name, std::string_view value, Options* options) {
  if (name == "host") return options->host = value, Parsed();
  if (name == "command") return parse_kind(value, &options->kind);
  if (name == "seed") {
    const auto seed = resp::parse_int64(value);
    if (!seed) return "--seed must be an integer";
    options->seed = static_cast<uint64_t>(*seed);
    return {};
  }
  for (const Row& row : kRows) {
    if (row.name == name) return parse_row(row, value, options);
  }
  return "unknown option --" + std::string(name);
}

const Row* find_flag(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.flag != nullptr && row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace

std::string_view name_of(Kind kind) {
  for (const KindName& known : kKinds) {
    if (known.kind == kind) return known.name;
  }
  std::abort();
}

Result<Options, std::string> parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string_view name = argv[i];
    if (!name.starts_with("--")) return "unknown argument '" + std::string(name) + "'";
    name.remove_prefix(2);
    if (const Row* row = find_flag(name)) {
      options.*row->flag = true;
      continue;
    }
    if (++i == argc) return "--" + std::string(name) + " needs a value";
    if (auto parsed = parse_named(name, argv[i], &options); !parsed) return parsed.error();
  }
  if (auto fits = check_together(options); !fits) return fits.error();
  if (options.fill) options.requests = options.keys;
  if (options.requests > 0) options.warmup_s = 0;
  return options;
}

std::string usage() {
  std::string text =
      "usage: weir-bench --port N --command " + names_of_kinds() +
      " [options]\n"
      "Loads a server that speaks RESP and checks every reply. Ends with 1 if one was wrong.\n"
      "  --host           numeric IPv4 address (127.0.0.1)\n"
      "  --seed           of the keys' generator (1)\n";
  for (const Row& row : kRows) {
    std::string line = "  --" + std::string(row.name);
    line.resize(19, ' ');
    text += line + std::string(row.help) + "\n";
  }
  return text;
}

}  // namespace weir::bench
