#include "server/cluster/cluster_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/ascii.h"
#include "base/crc64.h"
#include "resp/numbers.h"
#include "storage/replication/plain.h"

namespace weir::server {
namespace {

std::string file_hex(uint64_t number) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  return {digits.data(), end};
}

std::string_view or_none(const std::string& text) { return text.empty() ? kNoName : text; }
std::string from_word(std::string_view word) { return word == kNoName ? "" : std::string(word); }

std::string file_member_line(const ToldMember& member) {
  std::string line = "member " + member.node;
  line.append(" ").append(or_none(member.host));
  line.append(" ").append(std::to_string(member.port));
  line.append(" ").append(std::to_string(member.tls_port));
  line.append(" ").append(or_none(member.hostname));
  return line + (member.is_primary ? " primary\n" : " standby\n");
}

std::string file_end_line(std::string_view text) {
  return "end " + file_hex(crc64_xz(text)) + "\n";
}

template <typename Number>
bool file_number(std::string_view word, uint64_t max, Number* number) {
  const auto read = resp::parse_int64(word);
  if (!read || *read < 0 || static_cast<uint64_t>(*read) > max) return false;
  *number = static_cast<Number>(*read);
  return true;
}

using FileWords = std::vector<std::string_view>;

bool file_shard(const FileWords& words, ClusterFile* file) {
  using storage::replication::kPlainNumberMax;
  if (words.size() != 6 || file->shards.size() == kShardsMax) return false;
  FiledShard shard;
  shard.name = words[1];
  const std::string_view random = words[3];
  const auto read =
      std::from_chars(random.data(), random.data() + random.size(), shard.instance.random, 16);
  if (read.ec != std::errc()) return false;
  const bool is_sound = storage::replication::is_plain_name(shard.name) &&
                        file_number(words[2], kPlainNumberMax, &shard.instance.ms) &&
                        file_number(words[4], kPlainNumberMax, &shard.claim) &&
                        file_number(words[5], static_cast<uint64_t>(kEpochMax), &shard.changes);
  const bool is_next = file->shards.empty() || file->shards.back().name < shard.name;
  file->shards.push_back(std::move(shard));
  return is_sound && is_next;
}

bool file_slots(std::string_view line, FiledShard* shard) {
  auto ranges = parse_ranges(line.substr(std::min(line.find(' ') + 1, line.size())));
  if (!ranges || !shard->slots.empty() || !shard->members.empty()) return false;
  shard->slots = std::move(*ranges);
  return !shard->slots.empty();
}

bool file_member(const FileWords& words, FiledShard* shard) {
  constexpr uint64_t kFilePortMax = 65535;
  if (words.size() != 7 || shard->members.size() == kMembersMax) return false;
  ToldMember member;
  member.node = words[1];
  member.host = from_word(words[2]);
  member.hostname = from_word(words[5]);
  member.is_primary = words[6] == "primary";
  const bool is_sound = file_number(words[3], kFilePortMax, &member.port) &&
                        file_number(words[4], kFilePortMax, &member.tls_port) &&
                        check_member(member).ok();
  const bool is_new =
      std::none_of(shard->members.begin(), shard->members.end(), [&](const ToldMember& known) {
        return known.node == member.node || (known.is_primary && member.is_primary);
      });
  shard->members.push_back(std::move(member));
  return is_sound && is_new;
}

bool file_line(std::string_view line, ClusterFile* file) {
  const FileWords words = split_at_spaces(line);
  if (words.empty()) return false;
  if (words[0] == "shard") return file_shard(words, file);
  if (file->shards.empty()) return false;
  if (words[0] == "slots") return file_slots(line, &file->shards.back());
  return words[0] == "member" && file_member(words, &file->shards.back());
}

// Nothing: some line is wrong.
std::optional<ClusterFile> file_lines(std::string_view text) {
  ClusterFile file;
  for (bool is_first = true; !text.empty(); is_first = false) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.starts_with("end ")) return file;
    if (is_first) {
      const FileWords words = split_at_spaces(line);
      if (words.size() != 2 || !is_hex_id(words[1], kClusterIdDigits)) return std::nullopt;
      file.cluster = words[1];
    } else if (!file_line(line, &file)) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string cluster_file_text(const ClusterFile& file) {
  std::string text = "cluster " + file.cluster + "\n";
  for (const FiledShard& shard : file.shards) {
    text += "shard " + shard.name + " " + std::to_string(shard.instance.ms) + " " +
            file_hex(shard.instance.random) + " " + std::to_string(shard.claim) + " " +
            std::to_string(shard.changes) + "\n";
    if (!shard.slots.empty()) text += "slots " + ranges_text(shard.slots) + "\n";
    for (const ToldMember& member : shard.members) text += file_member_line(member);
  }
  return text + file_end_line(text);
}

Result<ClusterFile, std::string> parse_cluster_file(std::string_view text) {
  if (text.size() <= kClusterFileBytesMax) {
    const auto file = file_lines(text);
    if (file && cluster_file_text(*file) == text) return *file;
  }
  return std::string("it is not a file that weir has written, or not a whole one");
}

}  // namespace weir::server
