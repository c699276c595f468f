import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.Protocol;

// How the programs here connect Redisson: few threads and connections, the protocol of the orders.
final class RedissonConnection {
  private RedissonConnection() {}

  static RedissonClient connect() {
    Config config = new Config();
    config.setThreads(4).setNettyThreads(2).setProtocol(Protocol.valueOf("RESP" + Report.PROTOCOL));
    if (Report.OWNERS > 0) {
      config.useClusterServers().addNodeAddress("redis://127.0.0.1:" + Report.PORT)
          .setScanInterval(1000).setMasterConnectionPoolSize(8)
          .setMasterConnectionMinimumIdleSize(2).setSubscriptionConnectionMinimumIdleSize(1)
          .setSubscriptionConnectionPoolSize(1);
      return Redisson.create(config);
    }
    config.useSingleServer().setAddress("redis://127.0.0.1:" + Report.PORT)
        .setConnectionPoolSize(8).setConnectionMinimumIdleSize(2)
        .setSubscriptionConnectionMinimumIdleSize(1).setSubscriptionConnectionPoolSize(1);
    return Redisson.create(config);
  }
}
