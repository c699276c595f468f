package weir.core;

/** What is decided while weir is away. */
public enum Away {
  /** The process' share of the limit, less what it has just used. */
  LOCAL,
  /** The same, as if all had been used when weir went. */
  STRICT,
  /** Everything passes. */
  OPEN,
  /** Nothing passes. */
  CLOSED
}
