#include "server/limiter/policy/http_fields.h"

#include <algorithm>
#include <map>
#include <set>

#include "algorithms/algorithm.h"
#include "algorithms/fixed.h"
#include "base/ascii.h"
#include "base/base64.h"

namespace weir::server {
namespace {

using algorithms::Limit;

constexpr std::string_view kUnnamed = "default";
constexpr size_t kItemBytes = 48;  // most items are shorter

// By Denial.
constexpr ProblemType kProblems[] = {
    {"https://iana.org/assignments/http-problem-types#quota-exceeded", "Quota Exceeded", 429},
    {"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity",
     "Temporary Reduced Capacity", 503},
    {"https://iana.org/assignments/http-problem-types#abnormal-usage-detected",
     "Abnormal Usage Detected", 429}};

// A string of structured fields, whose characters all stand for themselves.
std::string plain(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string name;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_printable(c) && c != '"' && c != '\\' && c != '%') {
      name.push_back(c);
    } else {
      name.push_back('%');
      name.push_back(kHex[byte >> 4]);
      name.push_back(kHex[byte & 15]);
    }
  }
  return name;
}

class Names {
 public:
  // Answers the wanted name, or the first of "name-2", "name-3" ... that nobody has.
  std::string give(const std::string& wanted) {
    if (given_.insert(wanted).second) return wanted;
    size_t& number = last_[wanted];
    std::string name;
    do {
      number = std::max<size_t>(number + 1, 2);
      name = wanted + "-" + std::to_string(number);
    } while (!given_.insert(name).second);
    return name;
  }

 private:
  std::set<std::string> given_;
  std::map<std::string, size_t> last_;  // the last number that was tried for a name
};

bool tells_window(const Limit& limit) {
  return !limit.algorithm->makes_leases && limit.period_ns % kNsPerS == 0 &&
         !algorithms::has_windows_of_many_lengths(limit);
}

void append_partition(const ToldLimit& told, std::string* text) {
  if (told.key.empty() || told.key.size() > kPartitionBytesMax) return;
  text->append(";pk=:").append(encode_base64(told.key)).append(":");
}

template <typename AppendParameters>
std::string field_of(std::span<const ToldLimit> limits, std::span<const std::string> names,
                     AppendParameters append_parameters) {
  std::string text;
  text.reserve(kItemBytes * limits.size());
  for (size_t i = 0; i < limits.size(); ++i) {
    if (i > 0) text.append(", ");
    text.append("\"").append(names[i]).append("\"");
    append_parameters(limits[i], &text);
    append_partition(limits[i], &text);
  }
  return text;
}

void append_policy(const ToldLimit& told, std::string* text) {
  const Limit& limit = *told.limit;
  text->append(";q=").append(std::to_string(limit.count));
  if (limit.algorithm->makes_leases) text->append(";qu=\"concurrent-requests\"");
  if (tells_window(limit)) text->append(";w=").append(std::to_string(limit.period_ns / kNsPerS));
}

void append_left(const ToldLimit& told, std::string* text) {
  text->append(";r=").append(std::to_string(std::max<int64_t>(told.remaining, 0)));
  if (told.more_after_ns == algorithms::kNever || told.limit->algorithm->makes_leases) return;
  text->append(";t=").append(std::to_string(algorithms::units_up(told.more_after_ns, kNsPerS)));
}

}  // namespace

const ProblemType& problem_type(Denial denial) { return kProblems[static_cast<size_t>(denial)]; }

std::string item_name_of(std::string_view policy) { return plain(policy); }

std::vector<std::string> item_names(std::span<const ToldLimit> limits) {
  std::vector<std::string> names(limits.size());
  Names given;
  for (size_t i = 0; i < limits.size(); ++i) {
    if (!limits[i].name.empty()) names[i] = given.give(std::string(limits[i].name));
  }
  for (size_t i = 0; i < limits.size(); ++i) {
    const ToldLimit& told = limits[i];
    if (!told.name.empty()) continue;
    names[i] = given.give(told.policy.empty() ? std::string(kUnnamed) : plain(told.policy));
  }
  return names;
}

std::string rate_limit_policy_field(std::span<const ToldLimit> limits,
                                    std::span<const std::string> names) {
  return field_of(limits, names, append_policy);
}

std::string rate_limit_field(std::span<const ToldLimit> limits,
                             std::span<const std::string> names) {
  return field_of(limits, names, append_left);
}

}  // namespace weir::server
