package weir;

import java.util.Locale;

/** Who decided. */
public enum Source {
  /** weir has answered. */
  WEIR,
  /** This process, while weir is away. */
  LOCAL,
  /** Nobody: everything passes while weir is away. */
  OPEN,
  /** Nobody: nothing passes while weir is away. */
  CLOSED;

  String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
