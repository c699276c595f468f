package weir.web;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Optional;
import java.util.regex.Pattern;

/** Addresses and networks as they are written; no name is looked up. */
final class Address {
  private static final Pattern IPV4 =
      Pattern.compile("(?:(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)(?:\\.(?!$)|$)){4}");
  private static final Pattern IPV6 = Pattern.compile("[0-9a-fA-F:.]+");
  private static final int IPV6_GROUPS = 4; // /64

  private final InetAddress address;

  private Address(InetAddress address) {
    this.address = address;
  }

  /** A network, or an address that is one. */
  record Network(byte[] bytes, int bits) {
    static Network of(String text) {
      String[] parts = text.trim().split("/", 2);
      Address found = Address.of(parts[0])
          .orElseThrow(() -> new IllegalArgumentException("an address or a network, got '" + text + "'"));
      byte[] bytes = found.address.getAddress();
      int bits = parts.length == 1 ? bytes.length * 8 : Integer.parseInt(parts[1]);
      if (bits < 0 || bits > bytes.length * 8) {
        throw new IllegalArgumentException("a network of 0 to " + bytes.length * 8 + " bits, got '" + text + "'");
      }
      return new Network(bytes, bits);
    }

    boolean contains(Address other) {
      byte[] theirs = other.address.getAddress();
      if (theirs.length != bytes.length) {
        return false;
      }
      for (int bit = 0; bit < bits; bit++) {
        int mask = 0x80 >> (bit % 8);
        if ((bytes[bit / 8] & mask) != (theirs[bit / 8] & mask)) {
          return false;
        }
      }
      return true;
    }
  }

  /** An address as proxies write it: with a port, in brackets, IPv4 as IPv6. */
  static Optional<Address> of(String text) {
    String word = text.trim().replace("\"", "");
    if (word.startsWith("[")) {
      word = word.substring(1).split("]", 2)[0];
    } else if (word.indexOf(':') == word.lastIndexOf(':')) {
      word = word.split(":", 2)[0];
    }
    word = word.split("%", 2)[0];
    boolean isAddress = IPV4.matcher(word).matches() || (word.contains(":") && IPV6.matcher(word).matches());
    try {
      return isAddress ? Optional.of(new Address(InetAddress.getByName(word))) : Optional.empty();
    } catch (UnknownHostException error) {
      return Optional.empty();
    }
  }

  /** Of IPv6 the first 64 bits, since one caller has as many addresses as it likes. */
  String group() {
    if (address instanceof Inet4Address) {
      return address.getHostAddress();
    }
    byte[] bytes = address.getAddress();
    StringBuilder text = new StringBuilder();
    int groups = IPV6_GROUPS;
    while (groups > 0 && bytes[2 * groups - 1] == 0 && bytes[2 * groups - 2] == 0) {
      groups--;
    }
    for (int index = 0; index < groups; index++) {
      int value = (bytes[2 * index] & 0xff) << 8 | bytes[2 * index + 1] & 0xff;
      text.append(index == 0 ? "" : ":").append(Integer.toHexString(value));
    }
    return text + "::/64";
  }
}
