package weir;

/**
 * Who is told of the calls of limiters: {@code weir.telemetry.Telemetry}, for OpenTelemetry, or the program's own. Safe for
 * threads. What it throws, the caller of a limiter gets.
 */
public interface Observer {
  /** A call that goes on. */
  interface Call {
    /**
     * Around the beginning of the call, on the thread of its caller, where its first request leaves.
     *
     * @return what is closed then, on that thread
     */
    Scope begin();

    /**
     * The end of the call, on whatever thread.
     *
     * @param outcome what it answers
     */
    void answered(Outcome outcome);

    /**
     * The end of a call that throws.
     *
     * @param error a fault of the program, or that the call was cancelled
     */
    void failed(Throwable error);
  }

  /** A block of code. */
  interface Scope extends AutoCloseable {
    @Override
    void close();
  }

  /**
   * A limiter is made.
   *
   * @param limiter should be held by a weak reference alone
   */
  void limiter(WeirLimiter limiter);

  /**
   * A call is made.
   *
   * @param call its name, such as {@code take}
   * @param key of the limits
   * @return who is told how it goes on
   */
  Call calling(String call, String key);

  /**
   * A take was decided by a lot.
   *
   * @param outcome what it answers
   */
  void handedOut(Outcome outcome);
}
