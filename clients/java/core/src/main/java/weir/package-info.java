/**
 * Rate limits by weir.
 *
 * <pre>{@code
 * Weir weir = Weir.connect("redis://127.0.0.1:7000");
 * WeirLimiter limiter = weir.limiter("100/1m BURST 20").processes(4).build();
 * Verdict verdict = limiter.take("user:42");
 * }</pre>
 */
package weir;
