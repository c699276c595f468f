#include "server/core/disk/clock_keeper.h"

#include <string>

#include "server/os/log.h"
#include "storage/format/codec.h"

namespace weir::server {
namespace {

// DO NOT CHANGE these records; they are on disk:
//     clock-lead-ns   lead(u64)
//     clock-reset     accepted(u64) instant of the reset(u64)
constexpr std::string_view kLeadKey = "clock-lead-ns";
constexpr std::string_view kResetKey = "clock-reset";

void put_i64(std::string* value, int64_t number) {
  storage::put_u64_le(value, static_cast<uint64_t>(number));
}

int64_t read_i64(storage::Reader* reader) { return static_cast<int64_t>(reader->u64_le()); }

}  // namespace

StoredClock ClockKeeper::read() const {
  StoredClock stored;
  if (const storage::Ref lead = keys_.look_up_system(kLeadKey); lead.exists()) {
    storage::Reader reader(lead.value());
    stored.lead_ns = read_i64(&reader);
  }
  if (const storage::Ref reset = keys_.look_up_system(kResetKey); reset.exists()) {
    storage::Reader reader(reset.value());
    stored.accepted_ns = read_i64(&reader);
    stored.reset_ns = read_i64(&reader);
  }
  return stored;
}

void ClockKeeper::resume() {
  stored_ = read();
  timeline_.resume(keys_.metrics().instant_ns, stored_);
  look();
}

void ClockKeeper::store() {
  if (timeline_.is_led()) return;
  const int64_t lead_ns = timeline_.to_store().lead_ns;
  if (lead_ns == stored_.lead_ns) return;
  stored_.lead_ns = lead_ns;
  keys_.running().begin_command(timeline_.now_ns());
  std::string value;
  put_i64(&value, lead_ns);
  storage::Ref ref = keys_.look_up_system(kLeadKey);
  keys_.put(&ref, storage::Type::kSystem, value, 0);
}

void ClockKeeper::take_back() {
  if (timeline_.is_led()) return;
  stored_ = read();
  timeline_.take_back_accept(stored_);
}

int64_t ClockKeeper::reset() {
  const int64_t dropped_ns = timeline_.lead_ns();
  timeline_.accept();
  stored_.accepted_ns = timeline_.to_store().accepted_ns;
  stored_.reset_ns = timeline_.to_store().reset_ns;
  std::string value;
  put_i64(&value, stored_.accepted_ns);
  put_i64(&value, stored_.reset_ns);
  storage::Ref ref = keys_.look_up_system(kResetKey);
  keys_.put(&ref, storage::Type::kSystem, value, 0);
  log_warning(
      "WEIR CLOCK RESET: instants are {} ms ahead of the wall clock, which is taken for granted "
      "from now on; calendar windows that lie ahead of the wall clock are over",
      dropped_ns / kNsPerMs);
  told_ = false;
  return dropped_ns;
}

void ClockKeeper::look() {
  if (differs() == told_) return;
  told_ = !told_;
  if (told_) {
    log_warning(
        "instants are {} ms ahead of the wall clock, which was ahead once or has been set back: "
        "TIME, EXPIREAT and calendar windows follow the wall clock, limits count by instants; "
        "WEIR CLOCK RESET takes the difference for granted (docs/clock.md)",
        timeline_.lead_ns() / kNsPerMs);
  } else {
    log_info("the wall clock agrees with instants again");
  }
}

}  // namespace weir::server
