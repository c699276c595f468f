// A file of policies, a line each, in the words of RL.POLICY SET:
//
//     # plans
//     policy free 100/1m BURST 20
//     policy "big customers" TOKENBUCKET 10000/1m SHADOW
//
// Lines that begin with `rls` are rules for descriptors (descriptor_rule_lines.h), and passed over.
// Words are split and quoted as in weir.conf; blank lines and lines that begin with # say nothing.
//
// The file owns the policies that it names. Reading it makes them what it says, whatever was set by
// hand in between, and deletes those that it owned and names no longer. Policies that it has never
// named stay as they are. What it owns is a record:
//
//     record "policies-of-file" := format(u8 = 1) n x { size(varint) name }       DO NOT CHANGE
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/limiter/counts/unique_ids.h"
#include "server/limiter/policy/policies.h"
#include "server/limiter/policy/settings_journal.h"
#include "storage/keyspace/keyspace.h"

namespace weir::server {

inline constexpr size_t kPoliciesFileBytesMax = 4 << 20;

struct PolicyLine {
  std::string name;
  Policy policy;  // what a line says: no version, no seed, no overrides
};

// Parses a whole file; `place` is what errors call it, `zones` those that limits may name. The
// error names every line that is wrong, up to some, and what was expected; or it says that there
// are more policies than `most`, and nothing after those was looked at. The lines are in the order
// of their names.
Result<std::vector<PolicyLine>, std::string> parse_policies(std::string_view text,
                                                            const std::string& place,
                                                            const algorithms::Zones& zones,
                                                            int64_t most);

// The number of the line `epoch N` that a file may begin with, and in a cluster of shards does: it
// is raised with every change, so that an old file on one machine does not undo a new one.
Result<std::optional<uint64_t>, std::string> policies_epoch(std::string_view text,
                                                            const std::string& place);

// Finds the line of a policy; null: there is none.
const PolicyLine* find_line(const std::vector<PolicyLine>& lines, std::string_view name);

// What reading does to a policy. As in RL.POLICY SET's words; "" where there is none.
struct PolicyEdit {
  std::string name;
  std::string before;
  std::string after;
};

// Answers what `lines` change, in the order of names; what stays as it is is not in it.
std::vector<PolicyEdit> edits_of(const std::vector<PolicyLine>& lines, Policies* policies,
                                 storage::Keyspace& keys);

struct PolicyEditor {
  int64_t policies_max = 0;
  int64_t wall_ms = 0;
  std::string user = {};  // whom the history names
  std::function<uint64_t()> random = {};
  SettingsJournal* settings = nullptr;
};

// Makes the edits of these lines. Fails with an error line, and changes nothing, where there would
// be too many policies, or where they would take too much. Takes time in proportion to the number
// of all policies.
Result<void, std::string> apply_edits(const std::vector<PolicyEdit>& edits,
                                      const std::vector<PolicyLine>& lines,
                                      const PolicyEditor& editor, Policies* policies,
                                      UniqueIds* versions, storage::Keyspace& keys);

}  // namespace weir::server
