package weir;

import java.util.ArrayList;
import java.util.List;

/** A request: its name, its words, and which of them is the key by which a cluster finds the owner (-1: none). */
record Command(String name, List<String> words, int keyAt) {
  static Command of(String name, String key, List<String> more) {
    List<String> words = new ArrayList<>(more.size() + 1);
    words.add(key);
    words.addAll(more);
    return new Command(name, words, 0);
  }

  static Command of(String name, String key, String... more) {
    return of(name, key, List.of(more));
  }
}
