/**
 * Spans and metrics of OpenTelemetry.
 *
 * <pre>{@code
 * WeirLimiter observed = weir.limiter("100/1m").observer(new Telemetry("api", openTelemetry)).build();
 * }</pre>
 */
package weir.telemetry;
