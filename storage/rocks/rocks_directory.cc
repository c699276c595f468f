#include "storage/rocks/rocks_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <random>

#include "storage/format/crc32c.h"

namespace weir::storage {
namespace {

constexpr std::string_view kMagic = "weir data directory\n";
constexpr size_t kIdBytes = 32;
constexpr std::string_view kBirths[] = {"founded", "joined", "restored"};  // by ShardBirth

std::string hex(uint64_t value, int digits) {
  char text[17];
  std::snprintf(text, sizeof text, "%0*llx", digits, static_cast<unsigned long long>(value));
  return text;
}

// Takes "<name> <words>\n" off the front of the text, and answers what follows the name.
bool take_line(std::string_view* text, std::string_view name, std::string_view* words) {
  const size_t end = text->find('\n');
  if (end == std::string_view::npos || text->substr(0, name.size()) != name) return false;
  *words = text->substr(name.size(), end - name.size());
  text->remove_prefix(end + 1);
  return true;
}

bool parse_hex(std::string_view digits, uint64_t* value) {
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), *value, 16);
  return result.ec == std::errc() && result.ptr == digits.data() + digits.size();
}

bool parse_decimal(std::string_view digits, uint64_t* value) {
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), *value);
  return result.ec == std::errc() && result.ptr == digits.data() + digits.size() &&
         std::to_string(*value) == digits;
}

// Takes two words of 16 digits.
bool parse_words(std::string_view words, uint64_t* first, uint64_t* second) {
  return words.size() == 33 && words[16] == ' ' && parse_hex(words.substr(0, 16), first) &&
         parse_hex(words.substr(17), second);
}

bool take_origin(std::string_view* text, ShardOrigin* origin) {
  std::string_view words;
  if (!take_line(text, "slots ", &words)) return false;
  const auto slots = parse_slot_ranges(words);
  if (!slots || !take_line(text, "born ", &words)) return false;
  const auto born = std::find(std::begin(kBirths), std::end(kBirths), words);
  if (born == std::end(kBirths)) return false;
  origin->slots = *slots;
  origin->born = static_cast<ShardBirth>(born - std::begin(kBirths));
  return take_line(text, "instance ", &words) &&
         parse_words(words, &origin->instance.ms, &origin->instance.random);
}

bool take_shard(std::string_view* text, ShardIdentity* shard) {
  std::string_view words;
  if (!take_line(text, "cluster ", &words) || words.size() != kIdBytes) return false;
  shard->cluster = words;
  if (!take_line(text, "shard ", &words) || !is_shard_name(words)) return false;
  shard->name = words;
  return take_line(text, "databases ", &words) && parse_decimal(words, &shard->databases) &&
         shard->databases > 0;
}

std::string origin_lines(const ShardOrigin& origin) {
  return "slots " + slot_ranges_text(origin.slots) + "\nborn " +
         std::string(kBirths[static_cast<size_t>(origin.born)]) + "\ninstance " +
         instance_text(origin.instance) + "\n";
}

std::string holder(const std::string& lock_path) {
  std::string text;
  if (!read_file(lock_path, &text).ok() || text.empty()) return "another process";
  return "process " + text.substr(0, text.find('\n'));
}

}  // namespace

DirectoryIdentity draw_identity() {
  std::random_device device;
  const auto word = [&] { return static_cast<uint64_t>(device()) << 32 | device(); };
  DirectoryIdentity identity;
  identity.id = hex(word(), 16);
  identity.id += hex(word(), 16);
  for (uint64_t& part : identity.seed) part = word();
  return identity;
}

std::string encode_identity(const DirectoryIdentity& identity) {
  std::string text(kMagic);
  text += "format " + std::to_string(identity.format()) + "\n";
  text += "id " + identity.id + "\n";
  text += "seed " + hex(identity.seed[0], 16) + " " + hex(identity.seed[1], 16) + "\n";
  if (identity.shard) {
    text += "cluster " + identity.shard->cluster + "\n";
    text += "shard " + identity.shard->name + "\n";
    text += "databases " + std::to_string(identity.shard->databases) + "\n";
    if (identity.format() == kPartDirectoryFormat) text += origin_lines(identity.shard->origin);
  }
  return text + "checksum " + hex(crc32c(text), 8) + "\n";
}

Status parse_identity(std::string_view text, const std::string& path, DirectoryIdentity* identity) {
  const std::string_view whole = text;
  const Status damaged = Status::corrupt(path + " is damaged; restore it from a checkpoint");
  std::string_view words;
  if (text.substr(0, kMagic.size()) != kMagic) return damaged;
  text.remove_prefix(kMagic.size());
  if (!take_line(&text, "format ", &words)) return damaged;
  // The format is looked at before the checksum, because a later format may have another checksum.
  const bool is_of_part = words == std::to_string(kPartDirectoryFormat);
  const bool is_of_shard = is_of_part || words == std::to_string(kShardDirectoryFormat);
  if (!is_of_shard && words != std::to_string(kDirectoryFormat)) {
    return Status::refused("data directory of " + path + " has format version " +
                           std::string(words.substr(0, 20)) + ", this weir-server reads versions " +
                           std::to_string(kDirectoryFormat) + " to " +
                           std::to_string(kPartDirectoryFormat));
  }
  if (!take_line(&text, "id ", &words) || words.size() != kIdBytes) return damaged;
  identity->id = words;
  if (!take_line(&text, "seed ", &words) ||
      !parse_words(words, &identity->seed[0], &identity->seed[1])) {
    return damaged;
  }
  identity->shard.reset();
  if (is_of_shard && !take_shard(&text, &identity->shard.emplace())) return damaged;
  if (is_of_part && !take_origin(&text, &identity->shard->origin)) return damaged;
  // A shard has one form.
  if (is_of_part && identity->shard->origin.is_whole()) return damaged;
  const std::string_view summed = whole.substr(0, whole.size() - text.size());
  if (text != "checksum " + hex(crc32c(summed), 8) + "\n") return damaged;
  return {};
}

RocksDirectory::RocksDirectory(std::string path) : path_(std::move(path)) {}

Status RocksDirectory::lock() {
  if (Status status = make_directory(path_); !status.ok()) return status;
  const std::string lock_path = path_ + "/LOCK";
  Descriptor descriptor = open_own_file(lock_path, O_RDWR, 0644);
  if (!descriptor.ok()) return system_failure("cannot open", lock_path);
  if (::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return system_failure("cannot lock", lock_path);
    return Status::refused("data directory " + path_ + " is in use by another process (lock file " +
                           lock_path + ", held by " + holder(lock_path) + ")");
  }
  // The process id tells a person who finds the directory locked which process has it. A full disk
  // may keep it from being written.
  const std::string text = std::to_string(::getpid()) + "\n";
  if (::ftruncate(descriptor.get(), 0) == 0) {
    [[maybe_unused]] const ssize_t written =
        ::pwrite(descriptor.get(), text.data(), text.size(), 0);
  }
  lock_ = std::move(descriptor);
  return {};
}

Status RocksDirectory::lock_to_look() {
  std::error_code error;
  if (!std::filesystem::is_directory(path_, error)) {
    const bool is_unknown = error && error != std::errc::no_such_file_or_directory;
    return Status::refused(is_unknown ? "cannot look at " + path_ + ": " + error.message()
                                      : path_ + " is no directory");
  }
  const std::string lock_path = path_ + "/LOCK";
  Descriptor descriptor(::open(lock_path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor.ok())
    return errno == ENOENT ? Status() : system_failure("cannot open", lock_path);
  if (::flock(descriptor.get(), LOCK_SH | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return system_failure("cannot lock", lock_path);
    return Status::refused("data directory " + path_ + " is in use by a server (" +
                           holder(lock_path) +
                           "): stop it, or look at a checkpoint of it (BGSAVE)");
  }
  lock_ = std::move(descriptor);
  return {};
}

Status RocksDirectory::identify(bool* fresh, DirectoryIdentity* identity) {
  *fresh = false;
  if (file_exists(restoring_path())) return restoring();
  if (file_exists(identity_path())) {
    std::string text;
    if (Status status = read_file(identity_path(), &text); !status.ok()) return status;
    return parse_identity(text, identity_path(), identity);
  }
  if (file_exists(gone_path())) return gone();
  const bool databases = file_exists(log_path()) || file_exists(state_path());
  if (databases && !file_exists(creation_path())) {
    return Status::corrupt("data directory " + path_ + " holds data but no " + identity_path() +
                           "; restore it from a checkpoint, or name another directory");
  }
  *fresh = true;
  return {};
}

Status RocksDirectory::gone() const {
  return Status::refused("the data of " + path_ +
                         " was deleted while a server used it; restore it from a checkpoint, or "
                         "remove " +
                         gone_path() + " to begin with nothing");
}

Status RocksDirectory::restoring() const {
  return Status::refused(path_ +
                         " is what a --restore that did not end has left, and no data: remove it, "
                         "and restore again");
}

Status RocksDirectory::mark_gone() {
  const Status status =
      write_file(gone_path(),
                 "The data of this directory was deleted while a server used it.\n"
                 "Remove this file to begin with nothing.\n");
  return status.ok() ? gone() : status;
}

Status RocksDirectory::begin_creation(const DirectoryIdentity& identity) {
  Status status = write_file(creation_path(), encode_identity(identity));
  if (status.ok()) status = sync_directory(path_);
  if (status.ok()) status = remove_tree(log_path());
  if (status.ok()) status = remove_tree(state_path());
  return status;
}

Status RocksDirectory::end_creation() {
  if (Status status = rename_file(creation_path(), identity_path()); !status.ok()) return status;
  return sync_directory(path_);
}

Status RocksDirectory::change_identity(const DirectoryIdentity& identity) {
  const std::string changed = identity_path() + ".changed";
  Status status = write_file(changed, encode_identity(identity));
  if (status.ok()) status = rename_file(changed, identity_path());
  return status.ok() ? sync_directory(path_) : status;
}

}  // namespace weir::storage
