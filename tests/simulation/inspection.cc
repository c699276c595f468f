#include "tests/simulation/inspection.h"

#include "algorithms/limiter_record.h"
#include "base/time_units.h"
#include "server/limiter/policy/policies.h"
#include "server/limiter/policy/policy_words.h"
#include "server/limiter/take/limiter.h"
#include "server/os/time_zones.h"
#include "storage/keyspace/keyspace.h"
#include "storage/memtable/elements.h"
#include "tests/simulation/violation.h"

namespace weir::simulation {
namespace {

constexpr int64_t kAuditedIntervalNs = 365 * kNsPerDay;

void demand(const storage::Status& status) {
  if (!status.ok()) throw Violation("the disk cannot be read: " + status.message());
}

// A limiter of constant size that has a list has one of holds.
void add_holds(storage::Keyspace* keys, int database, const storage::Ref& ref, Record* record) {
  storage::HeaderView header;
  if (!storage::parse_header(ref.value(), &header) || header.lists != 1) {
    throw Violation("a limiter of constant size has more lists than that of its holds");
  }
  record->is_limiter = true;
  record->text = header.rest;
  const auto holds = keys->lists().open(database, header.ids[0]);
  demand(keys->failure());
  if (!holds || holds->empty()) throw Violation("a limiter has a list without holds");
  record->held_until_ns =
      storage::integer_of_order(holds->at(holds->size() - 1).order) + server::kLateSettleNs;
}

Record record_of(storage::Keyspace* keys, int database, const std::string& key,
                 const storage::Ref& ref) {
  Record record{.is_limiter = ref.type() == storage::Type::kLimiter,
                .expire_at_ms = ref.expire_at_ms()};
  if (ref.type() == storage::Type::kLimiterCharges) {
    add_holds(keys, database, ref, &record);
    return record;
  }
  if (!record.is_limiter || key.starts_with("rl:")) {
    record.text = ref.value();
    return record;
  }
  algorithms::LimitState limit;
  const auto head = algorithms::read_record(ref.value(), {&limit, 1});
  if (!head || head->limits != 1) throw Violation("a limiter's record that is none");
  record.tat_ns = limit.state.words[0];
  return record;
}

Database contents_of(storage::Keyspace* keys, int database) {
  std::map<std::string, int> seen;
  uint64_t cursor = 0;
  do {
    cursor = keys->scan(database, cursor, 100,
                        [&](const storage::Seen& record) { ++seen[std::string(record.key)]; });
    demand(keys->failure());
  } while (cursor != 0);
  Database contents;
  for (const auto& [key, times] : seen) {
    const storage::Ref ref = keys->look_up(database, key);
    demand(keys->failure());
    if (times != 1 || !ref.exists()) throw Violation("SCAN and GET disagree about " + key);
    contents.records[key] = record_of(keys, database, key, ref);
  }
  return contents;
}

std::map<std::string, Policy> policies_of(storage::Keyspace* keys) {
  server::WorkMeter work;
  server::TimeZones zones;
  server::Policies policies(keys, &work, &zones);
  std::map<std::string, Policy> found;
  for (const std::string& name : policies.names()) {
    const server::Policy* policy = policies.find(name);
    if (policy == nullptr) throw Violation("a policy's record that is none");
    Policy& seen = found[name];
    seen.effect = server::policy_text(*policy);
    uint64_t cursor = 0;
    do {
      cursor = server::visit_overrides(
          *keys, policy->overrides, zones.stored(), cursor, 100,
          [&](const server::OverrideScope& scope, const server::Override& override) {
            seen.overrides[(scope.is_prefix ? "PREFIX " : "KEY ") + std::string(scope.name)] =
                server::policy_text({.kind = override.kind, .limits = {}});
          });
      demand(keys->failure());
    } while (cursor != 0);
  }
  return found;
}

}  // namespace

Inspection inspect(const storage::MemoryDisk& disk) {
  const auto copy = disk.after_kill();
  storage::Keyspace keys([&] { return std::make_unique<storage::MemoryStore>(copy); },
                         {.databases = kDatabases + 1});
  storage::OpenReport report;
  demand(keys.open(&report));
  Inspection found;
  found.instant_ns = keys.metrics().instant_ns;
  keys.running().begin_command(keys.running().now_ns());
  for (int i = 0; i < kDatabases; ++i) {
    found.sizes[static_cast<size_t>(i)] = keys.size(i);
    found.model.databases.push_back(contents_of(&keys, i));
  }
  found.model.policies = policies_of(&keys);
  return found;
}

std::map<std::string, int64_t> audited_charges(const Model& model, int64_t now_ns) {
  std::map<std::string, int64_t> charges;
  for (const auto& [key, record] : model.databases[kAuditedDatabase].records) {
    charges[key] = (record.tat_ns - now_ns + kAuditedIntervalNs - 1) / kAuditedIntervalNs;
  }
  return charges;
}

}  // namespace weir::simulation
