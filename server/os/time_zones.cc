#include "server/os/time_zones.h"

#include <date/tz.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <iterator>
#include <utility>

#include "server/os/log.h"
#include "server/os/zone_rule.h"

namespace weir::server {
namespace {

using algorithms::Zone;

constexpr std::string_view kDirectory = "/usr/share/zoneinfo/";
constexpr int kFirstYear = 1900;  // of a rule that no listed change precedes
constexpr int kLastYear = 2262;   // the last whose nanoseconds fit 64 bits

// What a file of tzdata lists.
struct Listed {
  ZoneTable table;
  int last_year = kFirstYear;  // of the last change
};

Listed listed_changes(const date::time_zone& zone) {
  Listed listed;
  const auto last = date::sys_days(date::year(kLastYear) / 1 / 1);
  date::sys_seconds at = date::sys_days(date::year(kFirstYear - 300) / 1 / 1);
  while (at < last) {
    const date::sys_info info = zone.get_info(at);
    const int64_t offset_s = info.offset.count();
    auto& ranges = listed.table.ranges;
    if (ranges.empty() || ranges.back().offset_s != offset_s)
      ranges.push_back({at.time_since_epoch().count(), offset_s});
    if (info.save == std::chrono::minutes(0)) listed.table.standard_s = offset_s;
    const date::year_month_day day(date::floor<date::days>(at));
    listed.last_year = std::max(kFirstYear, int(day.year()));
    at = info.end;
  }
  return listed;
}

// The last line of the zone's file, which is empty where no rule follows; nothing if there is none.
std::optional<std::string> last_line(const std::string& name) {
  std::ifstream file(std::string(kDirectory) + name, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file || bytes.size() < 2 || bytes.back() != '\n') return std::nullopt;
  const size_t before = bytes.rfind('\n', bytes.size() - 2);
  if (before == std::string::npos) return std::nullopt;
  return bytes.substr(before + 1, bytes.size() - before - 2);
}

std::optional<ZoneTable> whole_table(const std::string& name) {
  Listed listed = listed_changes(*date::locate_zone(name));
  const auto line = last_line(name);
  if (!line) return std::nullopt;
  if (line->empty()) return listed.table;
  const auto rule = parse_zone_rule(*line);
  if (!rule) return std::nullopt;
  listed.table.standard_s = rule->standard_s;
  auto& ranges = listed.table.ranges;
  for (const Zone::Range& change : changes_by(*rule, listed.last_year, kLastYear)) {
    if (change.from_s > ranges.back().from_s && change.offset_s != ranges.back().offset_s)
      ranges.push_back(change);
  }
  return listed.table;
}

class SystemZones : public ZoneSource {
 public:
  const std::vector<std::string>& names() override {
    if (!std::exchange(read_, true)) read_names();
    return names_;
  }

  std::optional<ZoneTable> load(const std::string& name) override {
    try {
      if (auto table = whole_table(name)) return table;
      log_warning("the time zone {} cannot be used: its file makes no sense", name);
    } catch (const std::exception& error) {
      log_warning("the time zone {} cannot be used: {}", name, error.what());
    }
    return std::nullopt;
  }

 private:
  void read_names() {
    try {
      for (const date::time_zone& zone : date::get_tzdb().zones) {
        if (algorithms::is_zone_name(zone.name())) names_.push_back(zone.name());
      }
      std::ranges::sort(names_);
    } catch (const std::exception& error) {
      names_.clear();
      log_warning("no time zones, so FIXED takes no ZONE: {}", error.what());
    }
  }

  bool read_ = false;
  std::vector<std::string> names_;
};

}  // namespace

ZoneSource& system_zones() {
  static SystemZones zones;
  return zones;
}

const Zone* TimeZones::View::find(std::string_view name) const {
  return zones_.find(name, stands_in_);
}

std::string TimeZones::View::accepted() const {
  if (zones_.source_->names().empty())
    return "left out, since this machine has no tzdata; OFFSET needs none";
  return "the name of a time zone as this machine's tzdata writes it, such as Europe/Berlin";
}

const Zone* TimeZones::find(std::string_view name, bool stands_in) {
  if (!algorithms::is_zone_name(name)) return nullptr;
  const auto found = zones_.find(name);
  if (found != zones_.end() && (stands_in || found->second->is_known())) return found->second.get();
  if (found != zones_.end()) return nullptr;
  const std::string text(name);
  if (std::ranges::binary_search(source_->names(), text)) {
    auto table = source_->load(text);
    if (!table) {
      const Zone* broken = keep(Zone(text));
      return stands_in ? broken : nullptr;
    }
    return keep(Zone(text, std::move(table->ranges), table->standard_s));
  }
  if (!stands_in || stand_ins_ == kStandInsMax) return nullptr;
  ++stand_ins_;
  return keep(Zone(text));
}

const Zone* TimeZones::keep(Zone zone) {
  std::string name = zone.name();
  return zones_.emplace(std::move(name), std::make_unique<const Zone>(std::move(zone)))
      .first->second.get();
}

}  // namespace weir::server
