/** Spring Cloud Gateway: weir as the RateLimiter of its filter RequestRateLimiter. */
package weir.gateway;
