#include "server/cluster/founding.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "algorithms/words.h"
#include "base/ascii.h"
#include "server/acl/sha256.h"
#include "server/cluster/shard_facts.h"
#include "storage/format/shard_identity.h"

namespace weir::server {
namespace {

constexpr uint8_t kUnfounded = std::numeric_limits<uint8_t>::max();
constexpr size_t kRandomDigits = 32;

// What the lines have said so far.
struct FoundingLines {
  std::string name = {};
  std::string random = {};
  std::vector<std::string> shards = {};  // their names
  std::vector<uint8_t> of_slot = std::vector<uint8_t>(kHashSlots, kUnfounded);
  bool has_ranges = false;

  using Outcome = Result<void, std::string>;

  Outcome add_cluster(const std::vector<std::string_view>& words) {
    if (!name.empty()) return "there is a cluster already, '" + name + "'";
    if (!storage::is_shard_name(words[1])) {
      return "a cluster's name is 1 to 64 letters, digits, '-', '_' and '.', got " +
             algorithms::quoted(words[1]);
    }
    const bool is_random =
        words[2].size() == kRandomDigits &&
        std::all_of(words[2].begin(), words[2].end(), [](char c) { return hex_value(c) >= 0; });
    if (!is_random) {
      return "after a cluster's name come 32 random hexadecimal digits, got " +
             algorithms::quoted(words[2]);
    }
    name = words[1];
    random = to_lower(words[2]);
    return {};
  }

  Outcome add_range(size_t shard, std::string_view word) {
    const auto range = parse_slot_range(word);
    if (!range) return "slots are first-last, within 0 and 16383, got " + algorithms::quoted(word);
    for (int slot = range->first; slot <= range->last; ++slot) {
      uint8_t& of = of_slot[static_cast<size_t>(slot)];
      if (of != kUnfounded)
        return "slot " + std::to_string(slot) + " belongs to '" + shards[of] + "' already";
      of = static_cast<uint8_t>(shard);
    }
    return {};
  }

  Outcome add_shard(const std::vector<std::string_view>& words) {
    if (!storage::is_shard_name(words[1])) {
      return "a shard's name is 1 to 64 letters, digits, '-', '_' and '.', got " +
             algorithms::quoted(words[1]);
    }
    if (std::find(shards.begin(), shards.end(), words[1]) != shards.end())
      return "there is a shard '" + std::string(words[1]) +
             "' already; all its ranges are in one line";
    if (shards.size() == kFoundedShardsMax)
      return "a cluster has at most " + std::to_string(kFoundedShardsMax) + " shards";
    const bool has_some = words.size() > 2;
    if (!shards.empty() && has_some != has_ranges)
      return std::string("either every shard has ranges of slots, or none has and shares are even");
    has_ranges = has_some;
    shards.emplace_back(words[1]);
    for (size_t at = 2; at < words.size(); ++at)
      if (const auto added = add_range(shards.size() - 1, words[at]); !added) return added;
    return {};
  }

  Outcome add_line(std::string_view line) {
    const auto words = split_at_spaces(line);
    if (words.empty() || words[0].starts_with('#')) return {};
    if (words[0] == "cluster" && words.size() == 3) return add_cluster(words);
    if (words[0] == "shard" && words.size() >= 2) return add_shard(words);
    return "expected 'cluster NAME 32-HEXADECIMAL-DIGITS' or 'shard NAME [first-last ...]', got " +
           algorithms::quoted(trimmed(line));
  }

  void share_evenly() {
    const size_t count = shards.size();
    for (size_t slot = 0, shard = 0; slot < kHashSlots; ++slot) {
      while (slot >= kHashSlots * (shard + 1) / count) ++shard;
      of_slot[slot] = static_cast<uint8_t>(shard);
    }
  }

  Outcome check_whole() const {
    if (name.empty()) return std::string("there is no line 'cluster NAME 32-HEXADECIMAL-DIGITS'");
    if (shards.empty()) return std::string("there is no line 'shard NAME [first-last ...]'");
    const auto missing = std::find(of_slot.begin(), of_slot.end(), kUnfounded);
    if (missing == of_slot.end()) return {};
    const auto end =
        std::find_if(missing, of_slot.end(), [](uint8_t of) { return of != kUnfounded; });
    const auto count = std::count(of_slot.begin(), of_slot.end(), kUnfounded);
    return "no shard has the slots " + std::to_string(missing - of_slot.begin()) + "-" +
           std::to_string(end - of_slot.begin() - 1) +
           (count == end - missing ? "" : " (" + std::to_string(count) + " in all)");
  }
};

}  // namespace

Result<Founding, std::string> Founding::parse(std::string_view text, const std::string& place) {
  if (text.size() > kFoundingBytesMax)
    return place + ": a founding text has at most " + std::to_string(kFoundingBytesMax) + " bytes";
  FoundingLines lines;
  size_t number = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    ++number;
    if (const auto added = lines.add_line(line); !added)
      return place + ":" + std::to_string(number) + ": " + added.error();
  }
  if (!lines.has_ranges && !lines.shards.empty()) lines.share_evenly();
  if (const auto whole = lines.check_whole(); !whole) return place + ": " + whole.error();
  Founding founding;
  founding.name_ = std::move(lines.name);
  founding.random_ = std::move(lines.random);
  std::vector<size_t> place_of(lines.shards.size(), kFoundedShardsMax);  // in the order of slots
  for (int slot = 0; slot < kHashSlots; ++slot) {
    const uint8_t read = lines.of_slot[static_cast<size_t>(slot)];
    if (place_of[read] == kFoundedShardsMax) {
      place_of[read] = founding.shards_.size();
      founding.shards_.push_back({.name = lines.shards[read]});
    }
    SlotRanges& slots = founding.shards_[place_of[read]].slots;
    if (!slots.empty() && slots.back().last == slot - 1) {
      slots.back().last = slot;
    } else {
      slots.push_back({slot, slot});
    }
  }
  for (const FoundedShard& shard : founding.shards_) {
    if (shard.slots.size() <= kToldRangesMax) continue;
    return place + ": shard '" + shard.name + "' has " + std::to_string(shard.slots.size()) +
           " ranges of slots, and members tell one another of " + std::to_string(kToldRangesMax) +
           " at most";
  }
  return founding;
}

std::string Founding::canonical() const {
  std::string text = "cluster " + name_ + " " + random_ + "\n";
  for (const FoundedShard& shard : shards_)
    text += "shard " + shard.name + " " + slot_ranges_text(shard.slots) + "\n";
  return text;
}

std::array<char, 16> Founding::id() const {
  const auto digest = acl::sha256(canonical());
  std::array<char, 16> id;
  std::memcpy(id.data(), digest.data(), id.size());
  return id;
}

const FoundedShard* Founding::find(std::string_view shard) const {
  const auto found = std::find_if(shards_.begin(), shards_.end(),
                                  [&](const FoundedShard& each) { return each.name == shard; });
  return found == shards_.end() ? nullptr : &*found;
}

}  // namespace weir::server
