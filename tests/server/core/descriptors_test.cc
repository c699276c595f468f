#include "server/core/clients/descriptors.h"

#include <gtest/gtest.h>

#include "storage/rocks/rocks_store.h"

namespace weir::server {
namespace {

DescriptorShares on_disk(int64_t limit, int64_t maxclients) {
  return share_descriptors(limit, maxclients, StorageForm::kRocksdb);
}

TEST(Descriptors, WhereThereIsRoomEverybodyHasAll) {
  const DescriptorShares shares = on_disk(1 << 20, 10000);
  EXPECT_EQ(shares.clients_max, 10000);
  EXPECT_EQ(shares.open_tables_max, storage::kOpenTablesMax);
  EXPECT_EQ(shares.reserved,
            kOwnDescriptors + storage::kDescriptorsBesideTables + storage::kOpenTablesMax);
}

TEST(Descriptors, FewClientsLeaveTheRestToTables) {
  const DescriptorShares shares = on_disk(1024, 100);
  EXPECT_EQ(shares.clients_max, 100);
  EXPECT_EQ(shares.open_tables_max, 1024 - 160 - 100);
}

TEST(Descriptors, ManyClientsLeaveAQuarterToTables) {
  const DescriptorShares shares = on_disk(1024, 10000);
  EXPECT_EQ(shares.open_tables_max, (1024 - 160) / 4);
  EXPECT_EQ(shares.clients_max, 1024 - 160 - shares.open_tables_max);
}

TEST(Descriptors, TheSharesNeverExceedTheLimit) {
  for (int64_t limit = 0; limit < 5000; ++limit) {
    for (const int64_t maxclients : {1, 2, 100, 1000, 10000}) {
      const DescriptorShares shares = on_disk(limit, maxclients);
      EXPECT_EQ(shares.clients_max >= 1, limit >= shares.needed_min) << limit;
      if (shares.clients_max == 0) continue;
      EXPECT_LE(shares.reserved + shares.clients_max, limit);
      EXPECT_LE(shares.clients_max, maxclients);
      EXPECT_GE(shares.open_tables_max, storage::kOpenTablesMin);
    }
  }
}

TEST(Descriptors, WithoutFilesLittleIsReserved) {
  const DescriptorShares shares = share_descriptors(64, 10000, StorageForm::kMemory);
  EXPECT_EQ(shares.clients_max, 64 - kOwnDescriptors);
  EXPECT_EQ(shares.open_tables_max, 0);
  EXPECT_EQ(shares.needed_min, kOwnDescriptors + 1);
}

}  // namespace
}  // namespace weir::server
