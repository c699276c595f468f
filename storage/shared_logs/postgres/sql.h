// The tables of the shared log, the statements on them, and what the answers mean.
//
//     weir_head   a row for each shard: the identity of the end of its log
//     weir_log    the records
//     weir_board  what the members of a shard tell one another
//
// Invariants
// 1. A log index is given by the update of the shard's row of weir_head, in the statement that also
//    inserts the record. So log indexes have no gaps and are in the order of the commits, which a
//    sequence promises neither of.
// 2. Records go from the first on, in one statement of consecutive ones: what is missing is always
//    a prefix.
// 3. Only what the log's safety is about waits for standbys: an append. The rest is committed
//    locally, since it must not hold the connection up while a standby is away. What such a commit
//    made is safe when a later append is, because the server's log is sent in order.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/replication/shared_log.h"
#include "storage/shared_logs/postgres/statement.h"

namespace weir::storage::postgres {

struct Table {
  std::string name;
  std::string made_by;  // one statement or several
};
const std::vector<Table>& tables();
Statement make_table(const Table& table);

// Begins the log of a shard, if it is not there.
Statement make_shard(const std::string& shard);

inline constexpr size_t kRecordBytesMax = 32 << 20;

Statement append(const std::string& shard, const std::optional<replication::Head>& expected,
                 uint64_t crc, std::string record);
// `crc` is that of the record. A record may be there although this says kUnknown.
replication::Appended appended(const Answer& answer, uint64_t crc);

// Whoever can write to the tables can put rows of any size there, and libpq keeps a row whole: what
// is larger than anything of weir's is not fetched.
Statement read(const std::string& shard, const replication::Head& after, size_t bytes_max);
replication::Read rows_read(const Answer& answer, const replication::Head& after, size_t bytes_max);
// Why rows are not those of a log, one line.
std::string fault_of_rows(const Answer& answer);

// At most so many records, up to the log index.
Statement trim(const std::string& shard, uint64_t up_to, uint64_t records_max);

// Also removes what nobody has put for a day.
Statement put_facts(const std::string& shard, const std::string& name, const std::string& facts);
Statement read_registry(const std::string& shard);
// Nothing if it is no answer to that.
std::optional<std::vector<replication::RegistryEntry>> registry_read(const Answer& answer);

}  // namespace weir::storage::postgres
