// Asks Guava's smooth limiters on a stopwatch of our own, and prints what they answer.
//
// It lives in Guava's package because the constructors that take a stopwatch are visible there
// only. Nothing of Guava is repeated here. The seed is fixed: the same Guava prints the same bytes.
package com.google.common.util.concurrent;

import java.util.Random;
import java.util.concurrent.TimeUnit;

public final class GuavaVectors {
  private static final class Stopwatch extends RateLimiter.SleepingStopwatch {
    long nowUs = 0;

    @Override
    protected long readMicros() {
      return nowUs;
    }

    @Override
    protected void sleepMicrosUninterruptibly(long micros) {}
  }

  private final Random random = new Random(20_240_601);
  private final Stopwatch stopwatch = new Stopwatch();
  private RateLimiter limiter;
  private long intervalUs;

  private long between(long low, long high) {
    return low + (long) (random.nextDouble() * (high - low + 1));
  }

  private double rate() {
    return 1e6 / intervalUs;
  }

  // Intervals are whole microseconds, which is all that Guava counts in.
  private void begin(boolean bursty, boolean whole) {
    stopwatch.nowUs = 0;
    long[] intervals = {1, 10, 250, 1_000, 3_333, 20_000, 1_000_000, 60_000_000};
    intervalUs = intervals[random.nextInt(intervals.length)];
    if (bursty) {
      double[] bursts = {0.5, 1, 2.5, 10, 60};
      double burst = bursts[random.nextInt(bursts.length)];
      limiter = new SmoothRateLimiter.SmoothBursty(stopwatch, burst);
      limiter.setRate(rate());
      System.out.printf("limit BURSTY %d %d %d%n", intervalUs, (long) (burst * 1e6), whole ? 1 : 0);
      return;
    }
    long overUs = intervalUs * between(1, 60) * (whole ? 2 : 1) + (whole ? 0 : between(0, 999));
    long cold = whole ? 3 : between(2, 9);
    limiter = RateLimiter.create(rate(), overUs, TimeUnit.MICROSECONDS, cold, stopwatch);
    System.out.printf("limit WARMUP %d %d %d %d%n", intervalUs, overUs, whole ? 1 : 0, cold);
  }

  private void step(boolean whole) {
    long pauseUs = between(0, 4) == 0 ? intervalUs * between(0, 50) : between(0, intervalUs);
    if (whole) {
      pauseUs = between(0, 3) * between(0, 4) * intervalUs;
    }
    stopwatch.nowUs += pauseUs;
    int permits = (int) (between(0, 3) == 0 ? between(1, 40) : between(1, 4));
    if (between(0, 39) == 0) {
      intervalUs = Math.max(1, intervalUs * between(1, 4) / 2);
      limiter.setRate(rate());
      System.out.printf("rate %d %d%n", stopwatch.nowUs, intervalUs);
    }
    if (between(0, 2) > 0) {
      long waitUs = limiter.reserve(permits);
      System.out.printf("reserve %d %d %d%n", stopwatch.nowUs, permits, waitUs);
      return;
    }
    long timeoutUs = intervalUs * between(0, 4);
    boolean allowed = limiter.tryAcquire(permits, timeoutUs, TimeUnit.MICROSECONDS);
    System.out.printf("try %d %d %d %d%n", stopwatch.nowUs, permits, timeoutUs, allowed ? 1 : 0);
  }

  public static void main(String[] args) {
    GuavaVectors vectors = new GuavaVectors();
    for (int sequence = 0; sequence < 200; ++sequence) {
      boolean whole = sequence % 4 < 2;
      vectors.begin(sequence % 2 == 0, whole);
      for (int step = 0; step < 40; ++step) {
        vectors.step(whole);
      }
    }
  }
}
