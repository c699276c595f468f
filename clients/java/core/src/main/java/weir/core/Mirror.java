package weir.core;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The keys that this process uses; bounded, the longest unused goes first. */
final class Mirror {
  private final Map<String, Entry> entries;

  Mirror(int keysMax) {
    entries = new LinkedHashMap<>(16, 0.75f, true) {
      private static final long serialVersionUID = 1;

      @Override
      protected boolean removeEldestEntry(Map.Entry<String, Entry> eldest) {
        return size() > keysMax;
      }
    };
  }

  int size() {
    return entries.size();
  }

  /** Null where it is not there, or with other limits than these, where they are known. */
  Entry find(String key, List<Spec> specs) {
    Entry entry = entries.get(key);
    boolean fits = entry != null && (specs == null || entry.specs == specs || entry.specs.equals(specs));
    return fits ? entry : null;
  }

  Entry add(String key, List<Spec> specs, double share, double now) {
    Entry entry = new Entry(specs, share, now);
    entries.put(key, entry);
    return entry;
  }
}
