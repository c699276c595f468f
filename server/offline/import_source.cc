#include "server/offline/import_source.h"

#include <algorithm>
#include <cstdio>

#include "base/ascii.h"
#include "server/rdb/body.h"
#include "server/rdb/envelope.h"

namespace weir::server {
namespace {

using resp::Value;
using Done = Result<void, std::string>;

constexpr std::string_view kScanCount = "500";
// Of one page, which has some hundred: what is asked for is a hint.
constexpr size_t kPageKeysMax = 100'000;
constexpr size_t kCursorDigitsMax = 40;
constexpr int64_t kUnknownBytes = 2 << 20;       // of a key whose size the source does not tell
constexpr int64_t kKeyBytesMax = 1LL << 30;      // of the source's memory
constexpr size_t kPayloadBytesMax = 512u << 20;  // of weir's proto-max-bulk-len

// A type's own name where weir has it.
bool is_known_type(std::string_view type) {
  constexpr std::string_view kTypes[] = {"string", "list", "set", "zset", "hash"};
  return std::ranges::find(kTypes, type) != std::end(kTypes);
}

bool is_cursor(std::string_view text) {
  return !text.empty() && text.size() <= kCursorDigitsMax && std::ranges::all_of(text, is_digit);
}

// Why a payload cannot be restored; nothing if weir decides.
std::string reason_against(std::string_view body) {
  constexpr uint8_t kHashesWithTimes[] = {22, 23, 24, 25};  // of Redis 7.4 and later
  constexpr uint8_t kLimiter = 119;
  const auto type = static_cast<uint8_t>(body.empty() ? 255 : body[0]);
  if (std::ranges::find(kHashesWithTimes, type) != std::end(kHashesWithTimes))
    return "a hash whose fields expire, which weir does not have";
  if (type > static_cast<uint8_t>(rdb::Type::kStreamOfRedis72) && type != kLimiter)
    return "its dump has a form of a later Redis (type " + std::to_string(type) + ")";
  return "";
}

// Answers "db3:keys=12,..." as {3, 12}.
std::map<int, uint64_t> databases_of(const std::string& keyspace) {
  std::map<int, uint64_t> found;
  for (size_t at = keyspace.find("\ndb"); at != std::string::npos;
       at = keyspace.find("\ndb", at + 1)) {
    int number = 0;
    uint64_t keys = 0;
    if (std::sscanf(keyspace.c_str() + at, "\ndb%d:keys=%lu", &number, &keys) == 2)
      found[number] = keys;
  }
  return found;
}

}  // namespace

std::string info_line(const std::string& text, std::string_view name) {
  const size_t at = text.find(std::string(name) + ":");
  if (at == std::string::npos) return "";
  const size_t begin = at + name.size() + 1;
  return text.substr(begin, text.find('\r', begin) - begin);
}

Done ImportSource::identify(int only) {
  const auto server = client_.ask({"INFO", "server"});
  if (!server) return server.error();
  if (!server->is_error()) run_id_ = info_line(server->text, "run_id");
  if (run_id_.empty()) run_id_ = "-";
  const auto keyspace = client_.ask({"INFO", "keyspace"});
  if (!keyspace) return keyspace.error();
  knows_databases_ = !keyspace->is_error();
  if (knows_databases_) databases_ = databases_of(keyspace->text);
  if (only >= 0) databases_ = {{only, databases_[only]}};
  return {};
}

Done ImportSource::select(int database) {
  const std::string number = std::to_string(database);
  const auto selected = client_.ask({"SELECT", number});
  if (!selected) return selected.error();
  if (selected->is_error()) return "database " + number + " of the source: " + selected->text;
  return {};
}

Result<Value, std::string> ImportSource::scan(const std::string& cursor, const std::string& match) {
  std::vector<std::string_view> words = {"SCAN", cursor, "COUNT", kScanCount};
  if (!match.empty()) words.insert(words.end(), {"MATCH", match});
  client_.add(words);
  auto replies = client_.exchange();
  if (!replies) return replies.error();
  Value& page = replies->front();
  if (page.is_error()) return "the source answers SCAN: " + page.text;
  const auto is_text = [](const Value& value) { return value.type == Value::Type::kBulk; };
  if (page.elements.size() != 2 || !is_text(page.elements[0]) ||
      !is_cursor(page.elements[0].text) || page.elements[1].type != Value::Type::kArray ||
      !std::ranges::all_of(page.elements[1].elements, is_text))
    return "the source answers SCAN as no Redis does";
  if (page.elements[0].text == cursor && cursor != "0")
    return "the source answers SCAN with the cursor that it was asked with, " + cursor +
           ": that has no end";
  if (page.elements[1].elements.size() > kPageKeysMax)
    return "the source answers SCAN with " + std::to_string(page.elements[1].elements.size()) +
           " keys at once, as no Redis does";
  return std::move(page);
}

Done ImportSource::weigh(std::vector<SourceKey>* keys) {
  for (const SourceKey& key : *keys) {
    client_.add({"TYPE", key.name});
    client_.add({"MEMORY", "USAGE", key.name});
  }
  const auto replies = client_.exchange();
  if (!replies) return replies.error();
  std::vector<SourceKey> kept;
  for (size_t i = 0; i < keys->size(); ++i) {
    const Value& type = (*replies)[2 * i];
    const Value& usage = (*replies)[2 * i + 1];
    SourceKey& key = (*keys)[i];
    if (type.text == "none") {
      ++tally_.gone;
      continue;
    }
    if (!type.is_error() && !is_known_type(type.text) && !type.text.starts_with("limiter")) {
      tally_.refuse(key.name, "type " + type.text + ", which weir does not have");
      continue;
    }
    const bool is_known = usage.type == Value::Type::kInteger && usage.integer >= 0;
    key.bytes = is_known ? usage.integer : kUnknownBytes;
    if (key.bytes > kKeyBytesMax) {
      tally_.refuse(key.name, "too large: more than 1 GB of the source's memory");
      continue;
    }
    kept.push_back(std::move(key));
  }
  *keys = std::move(kept);
  return {};
}

Result<std::vector<SourceDump>, std::string> ImportSource::dump(std::span<const SourceKey> keys) {
  constexpr size_t kReplies = 4;
  for (const SourceKey& key : keys) {
    client_.add({"MULTI"});
    client_.add({"DUMP", key.name});
    client_.add({"PTTL", key.name});
    client_.add({"EXEC"});
  }
  const auto replies = client_.exchange();
  if (!replies) return replies.error();
  std::vector<SourceDump> dumps;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (Done taken = take_dump(keys[i], replies->data() + kReplies * i, &dumps); !taken)
      return taken.error();
  }
  return dumps;
}

Done ImportSource::take_dump(const SourceKey& key, const Value* replies,
                             std::vector<SourceDump>* dumps) {
  for (int i = 0; i < 3; ++i) {
    if (replies[i].is_error())
      return "the source answers " +
             std::string(i == 0   ? "MULTI"
                         : i == 1 ? "DUMP"
                                  : "PTTL") +
             ": " + replies[i].text;
  }
  const Value& both = replies[3];
  if (both.elements.size() != 2)
    return "the source answers EXEC: " + to_string(both).substr(0, 200);
  const Value& payload = both.elements[0];
  if (payload.is_error() || both.elements[1].is_error()) {
    tally_.refuse(key.name, payload.is_error() ? payload.text : both.elements[1].text);
    return {};
  }
  if (payload.is_null()) {
    ++tally_.gone;
    return {};
  }
  if (payload.type != Value::Type::kBulk || both.elements[1].type != Value::Type::kInteger)
    return "the source answers DUMP and PTTL as no Redis does: " + to_string(both).substr(0, 200);
  SourceDump dump{.key = &key,
                  .payload = payload.text,
                  .ttl_ms = both.elements[1].integer,
                  .read_ns = clock_.steady_ns()};
  if (const auto body = rdb::open_any(payload.text)) {
    const std::string reason = reason_against(*body);
    if (!reason.empty()) {
      tally_.refuse(key.name, reason);
      return {};
    }
    if (!rdb::open(payload.text)) {  // of a later version
      dump.payload = *body;
      rdb::seal(&dump.payload);
    }
  }
  if (dump.payload.size() > kPayloadBytesMax) {
    tally_.refuse(key.name, "too large: its dump has more than 512 MB");
    return {};
  }
  dumps->push_back(std::move(dump));
  return {};
}

}  // namespace weir::server
