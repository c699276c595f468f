#include "server/upkeep/import.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/time_units.h"
#include "server/core/disk/contents.h"
#include "server/os/clock.h"
#include "server/peer/redis_client.h"
#include "server/upkeep/import_options.h"
#include "server/upkeep/import_source.h"
#include "server/upkeep/import_tally.h"
#include "server/upkeep/progress.h"

namespace weir::server {
namespace {

using resp::Value;
using Done = Result<void, std::string>;

constexpr int64_t kImportPieceBytes =
    32 << 20;  // of the source's memory, for what is asked for together
constexpr size_t kPieceKeys = 250;
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
  Done copy_batch(const std::vector<Value>& names);
  Result<std::vector<SourceKey>, std::string> wanted(const std::vector<Value>& names);
  Done copy_piece(std::span<const SourceKey> keys);
  Done restore(const std::vector<SourceDump>& dumps);
  void show();

  const ImportOptions options_;
  ImportTally tally_;
  ImportSource source_;
  RedisClient& target_;
  Progress& progress_;
  Clock& clock_;
  uint64_t keys_ = 0;  // of all databases
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
  do {
    const auto page = source_.scan(tally_.cursor, options_.match);
    if (!page) return page.error();
    if (Done copied = copy_batch(page->elements[1].elements); !copied) return copied;
    tally_.cursor = page->elements[0].text;
    show();
    if (clock_.steady_ns() - kept_ns_ >= kKeepEveryNs) {
      if (Done kept = keep(); !kept) return kept;
      kept_ns_ = clock_.steady_ns();
    }
  } while (tally_.cursor != "0");
  return {};
}

// SCAN may tell a key twice; the second time weir has it.
Done Import::copy_batch(const std::vector<Value>& names) {
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
Result<std::vector<SourceKey>, std::string> Import::wanted(const std::vector<Value>& names) {
  std::vector<SourceKey> keys;
  if (options_.replace) {
    for (const Value& name : names) keys.push_back({name.text});
    return keys;
  }
  for (const Value& name : names) target_.add({"EXISTS", name.text});
  const auto replies = target_.exchange();
  if (!replies) return replies.error();
  for (size_t i = 0; i < names.size(); ++i) {
    const Value& reply = (*replies)[i];
    if (reply.is_error() && is_fatal(reply.text)) return "weir answers EXISTS: " + reply.text;
    if (!reply.is_error() && reply.integer == 1) {
      ++tally_.left;
    } else {
      keys.push_back({names[i].text});
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
  auto source = RedisClient::connect(options->source, options->tls);
  if (!source) return fail(plain(source.error()));
  auto target = RedisClient::connect(options->target, options->tls);
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
