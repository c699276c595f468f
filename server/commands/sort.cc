// SORT, SORT_RO: the elements of a list, a set or a sorted set, sorted by themselves or by what
// other keys hold whose names are made from them.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/ascii.h"
#include "server/acl/user.h"
#include "server/command/arguments.h"
#include "server/command/option_table.h"
#include "server/commands/command_lists.h"
#include "server/core/run/server.h"
#include "server/types/list.h"
#include "server/types/lookups.h"

namespace weir::server {
namespace {

using storage::Type;

struct SortOptions {
  std::optional<std::string_view> by;
  std::vector<std::string_view> gets;
  std::optional<std::string_view> target;
  int64_t first = 0;
  int64_t count = -1;  // negative: all
  bool descends = false;
  bool as_text = false;
  bool sorts = true;
};

struct Item {
  std::string element;
  double score = 0;
  std::optional<std::string> text = {};  // what the element is sorted by
};

// Patterns lead to any key, so only a user that may read every key may follow them.
Result<void, ErrorReplied> check_patterns_allowed(Call& call, std::string_view option) {
  if (server_of(call).config().cluster_enabled) {
    return reply_error(call,
                       "ERR " + std::string(option) + " option of SORT denied in Cluster mode.");
  }
  const acl::User& user = call.session.client().user();
  if (user.unrestricted() || user.reads_any_key(call.command, call.args)) return {};
  return reply_error(call, "ERR " + std::string(option) +
                               " option of SORT denied due to insufficient ACL permissions.");
}

Result<void, ErrorReplied> take_ascending(Call&, Args, SortOptions* options) {
  options->descends = false;
  return {};
}

Result<void, ErrorReplied> take_limit(Call& call, Args values, SortOptions* options) {
  const auto first = integer_argument(call, values[0]);
  if (!first) return first.error();
  const auto count = integer_argument(call, values[1]);
  if (!count) return count.error();
  options->first = *first;
  options->count = *count;
  return {};
}

Result<void, ErrorReplied> take_by(Call& call, Args values, SortOptions* options) {
  options->by = values[0];
  // A name that is the same for all elements sorts nothing.
  options->sorts &= values[0].find('*') != std::string_view::npos;
  if (values[0].find('*') == std::string_view::npos) return {};
  return check_patterns_allowed(call, "BY");
}

Result<void, ErrorReplied> take_get(Call& call, Args values, SortOptions* options) {
  if (const auto allowed = check_patterns_allowed(call, "GET"); !allowed) return allowed;
  options->gets.push_back(values[0]);
  return {};
}

constexpr OptionRow<SortOptions> kSortOptions[] = {
    {.word = "ASC", .take = take_ascending},
    {.word = "DESC", .flag = &SortOptions::descends},
    {.word = "ALPHA", .flag = &SortOptions::as_text},
    {.word = "LIMIT", .values = 2, .take = take_limit},
    {.word = "STORE",
     .values = 1,
     .take = take_word<&SortOptions::target>,
     .fits = [](const Call& call, const SortOptions&) { return call.command.has(kWrites); }},
    {.word = "BY", .values = 1, .take = take_by},
    {.word = "GET", .values = 1, .take = take_get}};

// Reads the elements; an absent key has none.
Result<std::vector<Item>, ErrorReplied> items_at(Call& call, SortOptions* options) {
  std::vector<Item> items;
  const storage::Ref ref = read_key(call, call.args[1]);
  if (!ref.exists()) return items;
  const Type type = ref.type();
  if (type != Type::kList && type != Type::kSet && type != Type::kZset)
    return reply_error(call, kWrongType);
  const auto collection = collection_of(call, ref, type);
  if (!collection) return collection.error();
  collection->walk([&](const storage::Element& element) {
    items.push_back({.element = std::string(type == Type::kList ? element.value : element.member)});
    return true;
  });
  if (!options->sorts && type == Type::kZset && options->descends)
    std::reverse(items.begin(), items.end());
  // What is stored must not depend on the order in which a set happens to be kept.
  if (!options->sorts && type == Type::kSet && options->target) {
    options->sorts = options->as_text = true;
    options->by.reset();
  }
  return items;
}

// Answers what a pattern means for an element: "#" the element, "w_*" a string, "h_*->f" a field of
// a hash.
std::optional<std::string> value_of(Call& call, std::string_view pattern,
                                    const std::string& element) {
  if (pattern == "#") return element;
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return std::nullopt;
  std::string_view rest = pattern.substr(star + 1);
  std::string_view field;
  const size_t arrow = rest.find("->");
  if (arrow != std::string_view::npos && arrow + 2 < rest.size()) {
    field = rest.substr(arrow + 2);
    rest = rest.substr(0, arrow);
  }
  call.work().charge_probes(1);
  const std::string key = std::string(pattern.substr(0, star)) + element + std::string(rest);
  const storage::Ref ref = read_key(call, key);
  if (!ref.exists() || ref.type() != (field.empty() ? Type::kString : Type::kHash))
    return std::nullopt;
  if (field.empty()) return std::string(ref.value());
  const auto hash = collection_of(call, ref, Type::kHash);
  const auto found = hash ? hash->find(field) : std::nullopt;
  return found ? std::optional(std::string(found->value)) : std::nullopt;
}

// Reads a number as C does, up to a NUL byte: so does Redis.
bool parse_score(const std::string& text, double* score) {
  char* end = nullptr;
  errno = 0;
  *score = std::strtod(text.c_str(), &end);
  return *end == '\0' && errno != ERANGE && !std::isnan(*score);
}

// Finds what each element is sorted by.
Result<void, ErrorReplied> weigh(Call& call, const SortOptions& options, std::vector<Item>* items) {
  bool all_fit = true;
  for (Item& item : *items) {
    item.text = options.by ? value_of(call, *options.by, item.element) : item.element;
    if (!options.as_text && item.text) all_fit &= parse_score(*item.text, &item.score);
  }
  if (all_fit) return {};
  return reply_error(call, "ERR One or more scores can't be converted into double");
}

int compare_texts(const SortOptions& options, const Item& first, const Item& second) {
  if (!first.text || !second.text)
    return int{first.text.has_value()} - int{second.text.has_value()};
  if (options.target) return first.text->compare(*second.text);
  return up_to_nul(*first.text).compare(up_to_nul(*second.text));
}

int compare_items(const SortOptions& options, const Item& first, const Item& second) {
  if (options.as_text) return compare_texts(options, first, second);
  if (first.score != second.score) return first.score < second.score ? -1 : 1;
  return first.element.compare(second.element);
}

void sort_items(const SortOptions& options, std::vector<Item>* items) {
  std::stable_sort(items->begin(), items->end(), [&](const Item& first, const Item& second) {
    const int order = compare_items(options, first, second);
    return options.descends ? order > 0 : order < 0;
  });
}

void cut(const SortOptions& options, std::vector<Item>* items) {
  const auto size = static_cast<int64_t>(items->size());
  const int64_t first = std::clamp<int64_t>(options.first, 0, size);
  const int64_t count = options.count < 0 ? size - first : std::min(options.count, size - first);
  items->erase(items->begin() + first + count, items->end());
  items->erase(items->begin(), items->begin() + first);
}

using Results = std::vector<std::optional<std::string>>;

Results results_of(Call& call, const SortOptions& options, const std::vector<Item>& items) {
  Results results;
  for (const Item& item : items) {
    if (options.gets.empty()) results.emplace_back(item.element);
    for (const std::string_view pattern : options.gets)
      results.push_back(value_of(call, pattern, item.element));
  }
  return results;
}

void store(Call& call, std::string_view target, const Results& results) {
  if (results.empty()) {
    replace_with_nothing(call, target);
    return call.reply.integer(0);
  }
  Collection list = replace_with_collection(call, target, Type::kList);
  call.work().charge_entries(results.size());
  for (const auto& result : results) push(&list, End::kRight, result.value_or(""));
  call.notify(EventClass::kList, "sortstore", target);
  server_of(call).waiting().signal(call.database, target);
  call.reply.integer(static_cast<int64_t>(results.size()));
}

// What sorting one of some ten thousand elements takes, in work units.
constexpr size_t kComparisonUnits = 4;

void sort(Call& call) {
  SortOptions options;
  if (!read_options(call, 2, kSortOptions, &options)) return;
  auto items = items_at(call, &options);
  if (!items) return;
  if (options.sorts) {
    if (!weigh(call, options, &*items)) return;
    call.work().charge_entries(kComparisonUnits * items->size());
    sort_items(options, &*items);
  }
  cut(options, &*items);
  const Results results = results_of(call, options, *items);
  if (options.target) return store(call, *options.target, results);
  call.reply.array(static_cast<int64_t>(results.size()));
  for (const auto& result : results) result ? call.reply.bulk(*result) : call.reply.null();
}

// The last STORE counts; the values of other options are no options.
void add_target(Args args, std::vector<KeyReference>* keys) {
  size_t target = 0;
  for (size_t at = 2; at < args.size(); ++at) {
    if (equals_ignoring_case(args[at], "LIMIT")) {
      at += 2;
    } else if (equals_ignoring_case(args[at], "GET") || equals_ignoring_case(args[at], "BY")) {
      at += 1;
    } else if (equals_ignoring_case(args[at], "STORE") && at + 1 < args.size()) {
      target = ++at;
    }
  }
  if (target > 0) keys->push_back({.position = target, .use = KeyUse::kOverwrites});
}

constexpr Command kSortCommands[] = {
    {.name = "sort",
     .arity = -2,
     .flags = kWrites | kDenyOom | kMovableKeys | kDangerous,
     .keys = {1, 1, 1, 0, KeyUse::kReads},
     .more_keys = add_target,
     .audit = Audit::kNo,
     .group = "generic",
     .categories = "set sortedset list",
     .usage = "key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC | DESC] "
              "[ALPHA] [STORE destination]",
     .summary = "Sorts the elements of a list, a set or a sorted set.",
     .since = "1.0.0",
     .run = sort},
    {.name = "sort_ro",
     .arity = -2,
     .flags = kReads | kMovableKeys | kDangerous,
     .keys = {1, 1, 1},
     .audit = Audit::kNo,
     .group = "generic",
     .categories = "set sortedset list",
     .usage = "key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC | DESC] "
              "[ALPHA]",
     .summary = "SORT without STORE.",
     .since = "7.0.0",
     .run = sort},
};

}  // namespace

Commands sort_commands() { return kSortCommands; }

}  // namespace weir::server
