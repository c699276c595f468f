#include "server/offline/import.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/time_units.h"
#include "server/core/disk/contents.h"
#include "server/offline/import_options.h"
#include "server/offline/import_source.h"
#include "server/offline/import_tally.h"
#include "server/offline/progress.h"
#include "server/os/clock.h"
#include "server/peer/redis_client.h"

namespace weir::server {
namespace {

using resp::Value;
using Done = Result<void, std::string>;

constexpr int64_t kImportPieceBytes =
    32 << 20;  // of the source's memory, for what is asked for together
constexpr size_t kPieceKeys = 250;
constexpr size_t kKeyNameBytesMax = 1 << 20;
constexpr size_t kBatchKeys = 500;  // whose requests fit into the sockets' buffers
// Bounds of a SCAN, which a source that means no good need not end: it may tell so many times the
// keys that it says it has, and some more, since keys come while it is read; and so many pages in a
// row without a key, more than the largest table has.
constexpr uint64_t kToldTimes = 10;
constexpr uint64_t kToldMore = 1'000'000;
constexpr uint64_t kEmptyPagesMax = 2'000'000;
constexpr RedisClient::Patience kImportPatience{.exchange_ms = 3600 * kMsPerS};
constexpr int64_t kKeepEveryNs = kNsPerS;
constexpr int kNotTaken = 2;

// Error words after which the next key would be answered the same.
constexpr std::string_view kFatal[] = {"NOAUTH",  "NOPERM", "MISCONF",     "OOM",      "READONLY",
                                       "LOADING", "BUSY ",  "CLUSTERDOWN", "EXECABORT"};

bool is_fatal(const std::string& error) {
  return std::ranges::any_of(kFatal,
                             [&](std::string_view word) { return error.starts_with(word); });
}

class Import {
 public:
  Import(ImportOptions options, RedisClient* source, RedisClient* target, Progress* progress,
         Clock* clock)
      : options_(std::move(options)),
        source_(source, clock, &tally_),
        target_(*target),
        progress_(*progress),
        clock_(*clock) {}

  Done run() {
    if (Done begun = begin(); !begun) return begun;
    if (!options_.progress.empty()) {
      if (Done resumed = resume_tally(options_, source_.run_id(), &tally_); !resumed)
        return resumed;
      begun_with_ = tally_.seen();
    }
    begun_ns_ = clock_.steady_ns();
    for (const auto& [database, keys] : source_.databases()) {
      if (database < tally_.database) continue;
      if (database != tally_.database) tally_.cursor = "0";
      tally_.database = database;
      if (Done copied = copy_database(); !copied) return copied;
    }
    progress_.clear();
    if (!options_.progress.empty()) ::unlink(options_.progress.c_str());
    return {};
  }
  // What was done, also of an import that did not end.
  const ImportTally& tally() const { return tally_; }
  Done keep() {
    return options_.progress.empty() || tally_.database < 0
               ? Done()
               : keep_tally(options_, source_.run_id(), tally_);
  }

 private:
  Done begin();
  Done copy_database();
  Done look_at_end(const std::vector<Value>& names);
  Done copy_batch(std::span<const Value> names);
  Result<std::vector<SourceKey>, std::string> wanted(std::span<const Value> names);
  Done copy_piece(std::span<const SourceKey> keys);
  Done restore(const std::vector<SourceDump>& dumps);
  void show();

  const ImportOptions options_;
  ImportTally tally_;
  ImportSource source_;
  RedisClient& target_;
  Progress& progress_;
  Clock& clock_;
  uint64_t keys_ = 0;         // of all databases
  uint64_t told_ = 0;         // keys of the database in progress, some of them twice
  uint64_t empty_pages_ = 0;  // in a row
  uint64_t begun_with_ = 0;
  int64_t begun_ns_ = 0;
  int64_t kept_ns_ = 0;
};

Done Import::begin() {
  const int only = options_.source.database;
  if (Done known = source_.identify(only); !known) return known;
  if (only < 0 && !source_.knows_databases())
    return "INFO is refused, so the databases are not known: name one at the end of the address, "
           "as in " +
           options_.source.shown() + "/0";
  for (const auto& [database, keys] : source_.databases()) keys_ += keys;
  const auto own = target_.ask({"INFO", "server"});
  if (!own) return own.error();
  if (!own->is_error() && source_.run_id() != "-" &&
      info_line(own->text, "run_id") == source_.run_id())
    return "the source and the weir to be filled are the same server; name weir by --import-into";
  return {};
}

Done Import::copy_database() {
  const std::string number = std::to_string(tally_.database);
  if (Done selected = source_.select(tally_.database); !selected) return selected;
  const auto selected = target_.ask({"SELECT", number});
  if (!selected) return selected.error();
  if (selected->is_error()) return "database " + number + " of weir: " + selected->text;
  told_ = empty_pages_ = 0;
  do {
    const auto page = source_.scan(tally_.cursor, options_.match);
    if (!page) return page.error();
    const std::vector<Value>& names = page->elements[1].elements;
    if (Done bounded = look_at_end(names); !bounded) return bounded;
    for (size_t at = 0; at < names.size(); at += kBatchKeys) {
      const size_t count = std::min(kBatchKeys, names.size() - at);
      if (Done copied = copy_batch(std::span(names).subspan(at, count)); !copied) return copied;
    }
    tally_.cursor = page->elements[0].text;
    show();
    if (clock_.steady_ns() - kept_ns_ >= kKeepEveryNs) {
      if (Done kept = keep(); !kept) return kept;
      kept_ns_ = clock_.steady_ns();
    }
  } while (tally_.cursor != "0");
  return {};
}

// Where the source does not say how many keys it has, it is read as long as its cursor goes on; one
// that names no key of the database says nothing, since a proxy may not know.
Done Import::look_at_end(const std::vector<Value>& names) {
  const auto database = source_.databases().find(tally_.database);
  const uint64_t said = database == source_.databases().end() ? 0 : database->second;
  told_ += names.size();
  empty_pages_ = names.empty() ? empty_pages_ + 1 : 0;
  if (said > 0 && said <= UINT64_MAX / kToldTimes - kToldMore && source_.knows_databases() &&
      told_ > kToldTimes * said + kToldMore)
    return "the source says that it has " + std::to_string(said) + " keys, and SCAN has told " +
           std::to_string(told_) + " and goes on: that has no end";
  if (empty_pages_ > kEmptyPagesMax)
    return "the source answers SCAN with no key " + std::to_string(empty_pages_) +
           " times in a row: that has no end";
  return {};
}

// SCAN may tell a key twice; the second time weir has it.
Done Import::copy_batch(std::span<const Value> names) {
  auto keys = wanted(names);
  if (!keys) return keys.error();
  if (Done weighed = source_.weigh(&*keys); !weighed) return weighed;
  const std::span<const SourceKey> all(*keys);
  for (size_t begin = 0; begin < all.size();) {
    size_t end = begin;
    int64_t bytes = 0;
    do {
      bytes += all[end++].bytes;
    } while (end < all.size() && end - begin < kPieceKeys &&
             bytes + all[end].bytes <= kImportPieceBytes);
    if (Done copied = copy_piece(all.subspan(begin, end - begin)); !copied) return copied;
    begin = end;
  }
  return {};
}

// Leaves out what weir has.
Result<std::vector<SourceKey>, std::string> Import::wanted(std::span<const Value> names) {
  std::vector<SourceKey> all;
  for (const Value& name : names) {
    if (name.text.size() > kKeyNameBytesMax) {
      tally_.refuse(name.text, "its name has more than 1 MB");
    } else {
      all.push_back({name.text});
    }
  }
  if (options_.replace) return all;
  for (const SourceKey& key : all) target_.add({"EXISTS", key.name});
  const auto replies = target_.exchange();
  if (!replies) return replies.error();
  std::vector<SourceKey> keys;
  for (size_t i = 0; i < all.size(); ++i) {
    const Value& reply = (*replies)[i];
    if (reply.is_error() && is_fatal(reply.text)) return "weir answers EXISTS: " + reply.text;
    if (!reply.is_error() && reply.integer == 1) {
      ++tally_.left;
    } else {
      keys.push_back(std::move(all[i]));
    }
  }
  return keys;
}

Done Import::copy_piece(std::span<const SourceKey> keys) {
  const auto dumps = source_.dump(keys);
  if (!dumps) return dumps.error();
  return restore(*dumps);
}

Done Import::restore(const std::vector<SourceDump>& dumps) {
  std::vector<const SourceDump*> sent;
  for (const SourceDump& dump : dumps) {
    const int64_t taken_ms = (clock_.steady_ns() - dump.read_ns) / kNsPerMs;
    if (dump.ttl_ms >= 0 && dump.ttl_ms <= taken_ms) {
      ++tally_.gone;
      continue;
    }
    const std::string ttl = std::to_string(dump.ttl_ms < 0 ? 0 : dump.ttl_ms - taken_ms);
    std::vector<std::string_view> words = {"RESTORE", dump.key->name, ttl, dump.payload};
    if (options_.replace) words.push_back("REPLACE");
    target_.add(words);
    sent.push_back(&dump);
  }
  const auto replies = target_.exchange();
  if (!replies) return replies.error();
  std::string fatal;
  for (size_t i = 0; i < sent.size(); ++i) {
    const Value& reply = (*replies)[i];
    if (!reply.is_error()) {
      ++tally_.copied;
      tally_.bytes += sent[i]->payload.size();
    } else if (reply.text.starts_with("BUSYKEY")) {
      ++tally_.left;
    } else if (is_fatal(reply.text)) {
      fatal = "weir answers RESTORE: " + reply.text;
    } else {
      tally_.refuse(sent[i]->key->name, "weir answers: " + reply.text);
    }
  }
  if (!fatal.empty()) return fatal;
  return {};
}

void Import::show() {
  if (!progress_.is_due()) return;
  const uint64_t seen = tally_.seen();
  const int64_t taken_ms = (clock_.steady_ns() - begun_ns_) / kNsPerMs;
  const uint64_t rate = (seen - begun_with_) * 1000 / static_cast<uint64_t>(taken_ms + 1);
  progress_.show("database " + std::to_string(tally_.database), seen, keys_,
                 std::to_string(tally_.copied) + " keys copied, " + std::to_string(rate) +
                     "/s, left alone " + std::to_string(tally_.left) + ", not taken " +
                     std::to_string(tally_.refused_keys()));
}

int fail(const std::string& message) {
  std::fprintf(stderr, "weir-server: %s\n", message.c_str());
  return 1;
}

}  // namespace

int run_import(int argc, char** argv, std::span<const Commands>) {
  auto options = read_import_options(argc, argv);
  if (!options) return fail(options.error());
  auto source = RedisClient::connect(options->source, options->tls, kImportPatience);
  if (!source) return fail(plain(source.error()));
  auto target = RedisClient::connect(options->target, options->tls, kImportPatience);
  if (!target) return fail(plain(target.error()));
  SystemClock clock;
  Progress progress(&clock);
  Import import_of(*options, source->get(), target->get(), &progress, &clock);
  const Done done = import_of.run();
  progress.clear();
  std::printf("%s", import_of.tally().report().c_str());
  std::fflush(stdout);
  if (!done) {
    const Done kept = import_of.keep();
    fail(plain(done.error()));
    if (!kept) return fail(kept.error());
    return fail("the import did not end; the same command goes on" +
                std::string(options->progress.empty() ? ", and passes over what weir has by then"
                                                      : " where it stopped"));
  }
  return import_of.tally().refused_keys() == 0 ? 0 : kNotTaken;
}

}  // namespace weir::server
