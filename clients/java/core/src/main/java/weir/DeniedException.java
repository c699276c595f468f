package weir;

/** A lease or a hold was denied. */
public final class DeniedException extends RuntimeException {
  private static final long serialVersionUID = 1;
  private final transient Verdict verdict;

  DeniedException(Verdict verdict) {
    super("denied, retry after " + verdict.retryAfter().map(Object::toString).orElse("no time"));
    this.verdict = verdict;
  }

  /**
   * The denial.
   *
   * @return the verdict, which says for how long
   */
  public Verdict verdict() {
    return verdict;
  }
}
