#include "server/cluster/topology.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "base/crc64.h"
#include "resp/numbers.h"
#include "server/acl/sha256.h"
#include "server/cluster/epoch_jump.h"

namespace weir::server {
namespace {

constexpr uint16_t kNobody = std::numeric_limits<uint16_t>::max();
constexpr size_t kShownTopologyBytesMax = 64;
constexpr int64_t kPortMax = 65535;
constexpr std::string_view kTlsPort = "tls-port=";

// Part of a file as an error shows it: no bytes that are not printable.
std::string shown(std::string_view text) {
  std::string result;
  for (const char c : text.substr(0, kShownTopologyBytesMax)) result += is_printable(c) ? c : '?';
  return result + (text.size() > kShownTopologyBytesMax ? "..." : "");
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kOwnerNameBytesMax &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.';
         });
}

bool is_host(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_printable(c) && c != ' ' && c != '[' && c != ']' && c != ',' && c != '@';
  });
}

std::optional<std::pair<std::string, int>> parse_address(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.starts_with('[') && host.ends_with(']') && host.size() > 2;
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!bracketed && host.find(':') != host.npos) return std::nullopt;
  const auto port = resp::parse_int64(text.substr(colon + 1));
  if (!is_host(host) || !port || *port < 1 || *port > kPortMax) return std::nullopt;
  return std::make_pair(std::string(host), static_cast<int>(*port));
}

// Answers 0 if there is no such word on the line.
std::optional<int> parse_tls_port(const std::vector<std::string_view>& words) {
  if (words.size() < 4) return 0;
  if (!words[3].starts_with(kTlsPort)) return std::nullopt;
  const auto port = resp::parse_int64(words[3].substr(kTlsPort.size()));
  if (!port || *port < 1 || *port > kPortMax) return std::nullopt;
  return static_cast<int>(*port);
}

// What the lines have said so far.
struct Reading {
  std::optional<int64_t> epoch = {};
  std::vector<Owner> owners = {};
  std::map<std::string, size_t> by_name = {};  // their places
  using Address = std::pair<std::string, int>;
  std::map<Address, size_t> by_address = {};  // with the port, and with the tls-port
  std::vector<uint16_t> of_slot = std::vector<uint16_t>(kSlots, kNobody);

  using Outcome = Result<void, std::string>;

  Outcome add_epoch(std::string_view word) {
    if (epoch) return "there is an epoch already, " + std::to_string(*epoch);
    const auto number = resp::parse_int64(word);
    if (!number || *number < 1 || *number > kEpochMax) {
      return "an epoch is a whole number from 1 to " + std::to_string(kEpochMax) + ", got '" +
             shown(word) + "'";
    }
    epoch = *number;
    return {};
  }

  Outcome add_range(size_t owner, const SlotRange& range) {
    for (int slot = range.first; slot <= range.last; ++slot) {
      uint16_t& of = of_slot[static_cast<size_t>(slot)];
      if (of != kNobody)
        return "slot " + std::to_string(slot) + " belongs to '" + owners[of].name + "' already";
      of = static_cast<uint16_t>(owner);
    }
    return {};
  }

  Outcome add_owner(const std::vector<std::string_view>& words) {
    const std::string_view name = words[0], address = words[1], slots = words[2];
    if (!is_name(name)) {
      return "a name is up to 64 letters, digits, '-', '_' and '.', got '" + shown(name) + "'";
    }
    const auto where = parse_address(address);
    if (!where) {
      return "an address is host:port or [IPv6 address]:port, got '" + shown(address) + "'";
    }
    const auto range = parse_slot_range(slots);
    if (!range) return "slots are first-last, within 0 and 16383, got '" + shown(slots) + "'";
    const auto tls_port = parse_tls_port(words);
    if (!tls_port) {
      return "after the slots there is nothing or 'tls-port=N', N from 1 to 65535, got '" +
             shown(words[3]) + "'";
    }
    const auto owner = find_or_add(Owner{.name = std::string(name),
                                         .host = where->first,
                                         .port = where->second,
                                         .tls_port = *tls_port});
    if (!owner) return owner.error();
    return add_range(*owner, *range);
  }

  // Answers an owner's place; the line may be its second.
  Result<size_t, std::string> find_or_add(const Owner& read) {
    if (const auto known = by_name.find(read.name); known != by_name.end()) {
      const Owner& owner = owners[known->second];
      if (owner.host != read.host || owner.port != read.port)
        return "'" + owner.name + "' has another address in a line before";
      if (owner.tls_port != read.tls_port)
        return "'" + owner.name + "' has another tls-port in a line before";
      return known->second;
    }
    for (const int port : {read.port, read.tls_port}) {
      const auto taken = by_address.find({read.host, port});
      if (port == 0 || taken == by_address.end()) continue;
      const Owner& owner = owners[taken->second];
      return "'" + owner.name + "' has this " + (owner.tls_port == port ? "tls-port" : "address") +
             " in a line before";
    }
    const size_t place = owners.size();
    owners.push_back(read);
    by_name.emplace(read.name, place);
    by_address.emplace(Address(read.host, read.port), place);
    if (read.tls_port != 0) by_address.emplace(Address(read.host, read.tls_port), place);
    return place;
  }

  Outcome add_line(std::string_view line) {
    const auto words = split_at_spaces(line);
    if (words.empty() || words[0].starts_with('#')) return {};
    if (words[0] == "epoch" && (words.size() == 2 || is_jump(words))) return add_epoch(words[1]);
    if (words.size() == 3 || words.size() == 4) return add_owner(words);
    return "expected 'name host:port first-last' or 'epoch N', got '" + shown(trimmed(line)) + "'";
  }

  Outcome check_whole() const {
    if (!epoch) return std::string("there is no line 'epoch N'");
    const auto missing = std::find(of_slot.begin(), of_slot.end(), kNobody);
    if (missing == of_slot.end()) return {};
    const auto end =
        std::find_if(missing, of_slot.end(), [](uint16_t of) { return of != kNobody; });
    const auto count = std::count(of_slot.begin(), of_slot.end(), kNobody);
    return "nobody has the slots " + std::to_string(missing - of_slot.begin()) + "-" +
           std::to_string(end - of_slot.begin() - 1) +
           (count == end - missing ? "" : " (" + std::to_string(count) + " in all)");
  }
};

}  // namespace

bool is_jump(const std::vector<std::string_view>& words) {
  return words.size() == 3 && words[0] == "epoch" && words[2] == "jump";
}

bool says_jump(std::string_view text) {
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (is_jump(split_at_spaces(line))) return true;
  }
  return false;
}

Result<Topology, std::string> Topology::parse(std::string_view text, const std::string& place) {
  Reading reading;
  size_t number = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    ++number;
    if (const auto added = reading.add_line(line); !added)
      return place + ":" + std::to_string(number) + ": " + added.error();
  }
  if (const auto whole = reading.check_whole(); !whole) return place + ": " + whole.error();
  // In the order of their first slots.
  Topology topology;
  topology.epoch_ = *reading.epoch;
  std::vector<uint16_t> place_of(reading.owners.size(), kNobody);
  for (int slot = 0; slot < kSlots; ++slot) {
    const uint16_t read = reading.of_slot[static_cast<size_t>(slot)];
    uint16_t& owner = place_of[read];
    if (owner == kNobody) {
      owner = static_cast<uint16_t>(topology.owners_.size());
      topology.owners_.push_back(reading.owners[read]);
    }
    topology.of_slot_.push_back(owner);
    std::vector<SlotRange>& ranges = topology.owners_[owner].ranges;
    if (!ranges.empty() && ranges.back().last == slot - 1) {
      ranges.back().last = slot;
    } else {
      ranges.push_back({slot, slot});
    }
  }
  return topology;
}

Topology Topology::alone() {
  Topology topology;
  topology.owners_.push_back(Owner{.ranges = {{0, kSlots - 1}}});
  topology.of_slot_.assign(kSlots, 0);
  return topology;
}

std::string Topology::digest() const {
  std::string text = "epoch " + std::to_string(epoch_) + "\n";
  for (const Owner& owner : owners_) {
    text += owner.name + " " + owner.host + " " + std::to_string(owner.port);
    if (owner.tls_port != 0) text += " tls-port=" + std::to_string(owner.tls_port);
    for (const SlotRange& range : owner.ranges)
      text += " " + std::to_string(range.first) + "-" + std::to_string(range.last);
    text += "\n";
  }
  const uint64_t sum = crc64_xz(text);
  std::array<uint8_t, sizeof sum> bytes;
  for (size_t at = 0; at < bytes.size(); ++at)
    bytes[at] = static_cast<uint8_t>(sum >> 8 * (bytes.size() - 1 - at));
  return hex_text(bytes);
}

std::string node_id_of(std::string_view name) {
  return acl::sha256_hex("weir cluster node " + std::string(name)).substr(0, 40);
}

}  // namespace weir::server
