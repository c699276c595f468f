package weir.web;

import java.util.List;
import java.util.stream.Stream;

/** Whom requests are counted for. */
public final class Keys {
  private static final String FORWARDED = "X-Forwarded-For";

  private Keys() {}

  /**
   * The caller's address; of IPv6 the first 64 bits.
   *
   * @param trusted the proxies in front, as addresses or networks. From one of them X-Forwarded-For is read from its
   *     end, up to the first address that is none of them: what stands before that anybody may have written
   * @return the key
   * @throws IllegalArgumentException if one is no address and no network
   */
  public static Key byAddress(String... trusted) {
    List<Address.Network> proxies = Stream.of(trusted).map(Address.Network::of).toList();
    return caller -> "address:" + Address.of(caller.peer() == null ? "" : caller.peer())
        .map(peer -> behind(peer, caller.header().apply(FORWARDED), proxies).group()).orElse("unknown");
  }

  private static boolean isTrusted(Address address, List<Address.Network> proxies) {
    return proxies.stream().anyMatch(proxy -> proxy.contains(address));
  }

  private static Address behind(Address peer, String forwarded, List<Address.Network> proxies) {
    if (forwarded == null || !isTrusted(peer, proxies)) {
      return peer;
    }
    Address found = peer;
    String[] hops = forwarded.split(",", -1);
    for (int index = hops.length - 1; index >= 0; index--) {
      var hop = Address.of(hops[index]);
      if (hop.isEmpty()) {
        return found;
      }
      found = hop.get();
      if (!isTrusted(found, proxies)) {
        return found;
      }
    }
    return found;
  }

  /**
   * The value of a header, such as an API key.
   *
   * @param name of the header
   * @param otherwise for callers without it
   * @return the key
   */
  public static Key byHeader(String name, Key otherwise) {
    return caller -> {
      String value = caller.header().apply(name);
      return value == null || value.isEmpty() ? otherwise.of(caller) : "header:" + value;
    };
  }

  /**
   * Who has logged in.
   *
   * @param otherwise for those who have not
   * @return the key
   */
  public static Key byUser(Key otherwise) {
    return caller -> caller.user().map(user -> "user:" + user).orElseGet(() -> otherwise.of(caller));
  }

  /**
   * Each method and path of a caller by itself.
   *
   * @param key of the caller
   * @return the key
   */
  public static Key perRoute(Key key) {
    return caller -> key.of(caller) + ":" + caller.method() + ":" + caller.path();
  }
}
