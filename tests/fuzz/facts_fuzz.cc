// Feeds the readers of what members tell one another, and of the file CLUSTER, arbitrary bytes.
// Demands that what is read is written as it was read; that a cluster which hears it keeps its
// bounds, shows every slot for a shard that it knows, and makes a file that is read back; and that
// nothing ends the process.
//
// Input: a byte that says what the rest is: 0 the text of a file, else facts, each after its length
// in two bytes.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "server/cluster/cluster_facts.h"
#include "server/cluster/cluster_file.h"
#include "server/cluster/shard_facts.h"
#include "tests/fuzz/fuzz_input.h"

namespace {

using weir::fuzz::check;
using weir::fuzz::Input;
using namespace weir::server;

const std::string kCluster = "00112233445566778899aabbccddeeff";
const std::string kNode(40, '1');
constexpr int64_t kStepNs = 700 * weir::kNsPerMs;

void check_file(const ClusterFile& file) {
  const std::string text = cluster_file_text(file);
  const auto again = parse_cluster_file(text);
  check(again.ok() && *again == file);
}

void check_known(const ClusterFacts& known, int64_t now_ns) {
  const auto shards = known.shards(now_ns);
  check(shards.size() <= kShardsMax);
  for (const KnownShard& shard : shards) {
    check(shard.members.size() <= kMembersMax + 1);
    for (const ToldRange& range : shard.slots)
      check(known.shard_of(range.slots.first) == shard.name);
    check(known.addresses_of(shard.name, now_ns).size() <= 2 * kMembersMax + 1);
  }
  check_file(known.file(now_ns));
}

void hear_all(Input* input) {
  ClusterFacts known({.cluster = kCluster, .shard = "a", .node = kNode});
  int64_t now_ns = 0;
  while (!input->empty()) {
    const size_t size = input->byte() * 256u + input->byte();
    const std::string bytes(input->take(size));
    const auto facts = read_shard_facts(bytes);
    check(facts.ok() || !facts.error().empty());
    if (!facts) continue;
    const auto again = read_shard_facts(shard_facts_bytes(*facts));
    check(again.ok() && again->members == facts->members && again->shard == facts->shard);
    (void)known.hear(*facts, now_ns += kStepNs);
  }
  check_known(known, now_ns);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  if (input.byte() != 0) {
    hear_all(&input);
    return 0;
  }
  const auto file = parse_cluster_file(std::string(input.take(size)));
  if (!file) return 0;
  check_file(*file);
  ClusterFacts known({.cluster = file->cluster, .shard = "a", .node = kNode});
  known.restore(*file);
  check_known(known, 0);
  return 0;
}
