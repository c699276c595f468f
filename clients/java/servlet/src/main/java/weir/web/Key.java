package weir.web;

/** Whom a request is counted for. */
@FunctionalInterface
public interface Key {
  /**
   * The key of a request.
   *
   * @param caller the request
   * @return the key, without the prefix
   */
  String of(Caller caller);
}
