package weir;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import weir.core.Limits;

/** The names of limits in the HTTP fields that are made here. */
final class ItemNames {
  private static final String UNNAMED = "default";
  private static final String SPECIAL = "\"\\%";
  private static final int PLAIN_FROM = 0x20;
  private static final int PLAIN_UNTIL = 0x7f;

  private ItemNames() {}

  /** As weir gives them: what AS says, else the policy, or `default`. */
  static List<String> of(List<String> given, Optional<String> policy) {
    String unnamed = policy.map(ItemNames::plain).orElse(UNNAMED);
    String[] names = new String[given.size()];
    for (boolean isTurn : new boolean[] {false, true}) { // those of AS come first
      for (int index = 0; index < names.length; index++) {
        if (Limits.isUnnamed(given.get(index), index) == isTurn) {
          names[index] = free(isTurn ? unnamed : given.get(index), Arrays.asList(names));
        }
      }
    }
    return List.of(names);
  }

  // The name, or the first of name-2, name-3 and so on that is not taken yet.
  private static String free(String name, List<String> taken) {
    String found = name;
    for (int number = 2; taken.contains(found); number++) {
      found = name + "-" + number;
    }
    return found;
  }

  // A string of structured fields, whose characters all stand for themselves.
  private static String plain(String text) {
    StringBuilder made = new StringBuilder();
    for (byte each : text.getBytes(StandardCharsets.UTF_8)) {
      int letter = each & 0xff;
      if (letter >= PLAIN_FROM && letter < PLAIN_UNTIL && SPECIAL.indexOf(letter) < 0) {
        made.append((char) letter);
      } else {
        made.append(String.format("%%%02X", letter));
      }
    }
    return made.toString();
  }
}
