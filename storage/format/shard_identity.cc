#include "storage/format/shard_identity.h"

#include <algorithm>

namespace weir::storage {
namespace {

bool is_name_byte(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || byte == '-' || byte == '_' || byte == '.';
}

std::string shown(const ShardIdentity& shard) {
  const std::string text = "shard " + shard.name + " of cluster " + shard.cluster;
  if (shard.origin.is_whole()) return text;
  return text + " (slots " + slot_ranges_text(shard.origin.slots) + ", instance " +
         instance_text(shard.origin.instance) + ")";
}

Status check_step(const std::string& path, const std::optional<ShardIdentity>& found,
                  const std::optional<ShardIdentity>& wanted, ShardStep step) {
  if (step == ShardStep::kLeave)
    return found ? Status() : Status::refused("data directory " + path + " belongs to no shard");
  if (!found || found == wanted) return {};
  return Status::refused("data directory " + path + " belongs to " + shown(*found) +
                         " already; --leave-shard takes it out");
}

}  // namespace

bool is_shard_name(std::string_view name) {
  return !name.empty() && name.size() <= kShardNameBytesMax &&
         std::all_of(name.begin(), name.end(), is_name_byte);
}

Status check_shard(const std::string& path, const std::optional<ShardIdentity>& found,
                   const std::optional<ShardIdentity>& wanted, ShardStep step) {
  if (step != ShardStep::kNone) return check_step(path, found, wanted, step);
  if (found == wanted) return {};
  if (!wanted) {
    return Status::refused("data directory " + path + " belongs to " + shown(*found) +
                           ": it opens with the shard's log only; --leave-shard makes it a "
                           "directory of no shard");
  }
  if (!found) {
    return Status::refused("data directory " + path + " belongs to no shard, and cannot join " +
                           shown(*wanted) + "; only an empty directory can");
  }
  return Status::refused("data directory " + path + " belongs to " + shown(*found) + ", not to " +
                         shown(*wanted));
}

}  // namespace weir::storage
