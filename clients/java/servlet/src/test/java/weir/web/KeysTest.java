package weir.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class KeysTest {
  private static final String NOBODY = null;

  private static Caller caller(String peer, String user, Map<String, String> headers) {
    return new Caller(peer, headers::get, "GET", "/a", Optional.ofNullable(user), null);
  }

  private static void address(String wanted, String peer, String forwarded, String... trusted) {
    Map<String, String> headers = forwarded == null ? Map.of() : Map.of("X-Forwarded-For", forwarded);
    assertEquals("address:" + wanted, Keys.byAddress(trusted).of(caller(peer, NOBODY, headers)));
  }

  @Test
  void addresses() {
    address("192.0.2.1", "192.0.2.1", "198.51.100.9");
    address("198.51.100.9", "10.1.1.1", "198.51.100.9", "10.0.0.0/8");
    address("198.51.100.9", "10.1.1.1", "203.0.113.5, 198.51.100.9, 10.2.2.2", "10.0.0.0/8");
    address("10.3.3.3", "10.1.1.1", "10.3.3.3, 10.2.2.2", "10.0.0.0/8");
    address("10.1.1.1", "10.1.1.1", null, "10.0.0.0/8");
    address("10.1.1.1", "10.1.1.1", "198.51.100.9, nonsense", "10.0.0.0/8");
    address("198.51.100.9", "10.1.1.1", "198.51.100.9:4711", "10.0.0.0/8");
    address("2001:db8:1:2::/64", "::ffff:10.1.1.1", "[2001:db8:1:2:3::4]:80", "10.0.0.0/8");
    address("2001:db8:1:2::/64", "2001:db8:1:2:ffff::1", null);
    address("2001:db8::/64", "2001:db8::1", null);
    address("::/64", "::1%eth0", null);
    address("192.0.2.1", "::ffff:192.0.2.1", null);
    address("unknown", null, null);
    address("unknown", "www.example.com", null);
    address("unknown", "1.2.3", null);
    address("10.9.0.1", "2001:db8:5::1", "10.9.0.1", "2001:db8::/32");
    assertThrows(IllegalArgumentException.class, () -> Keys.byAddress("proxy"));
    assertThrows(IllegalArgumentException.class, () -> Keys.byAddress("10.0.0.0/33"));
  }

  @Test
  void headersUsersRoutes() {
    Key address = Keys.byAddress();
    Key header = Keys.byHeader("X-Api-Key", address);
    Caller known = caller("192.0.2.1", NOBODY, Map.of("X-Api-Key", "k"));
    assertEquals("header:k", header.of(known));
    assertEquals("address:192.0.2.1", header.of(caller("192.0.2.1", NOBODY, Map.of())));
    assertEquals("user:7", Keys.byUser(header).of(caller("192.0.2.1", "7", Map.of())));
    assertEquals("header:k", Keys.byUser(header).of(known));
    assertEquals("header:k:GET:/a", Keys.perRoute(header).of(known));
  }
}
