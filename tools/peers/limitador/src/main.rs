//! Nanoseconds of a decision of the crate limitador, in process, for tools/bench_peers.
//!
//!     limitador-bench KEYS DECISIONS

use limitador::limit::{Context, Limit};
use limitador::RateLimiter;
use std::collections::HashMap;
use std::time::Instant;

fn number(place: usize) -> usize {
    std::env::args().nth(place).expect("KEYS DECISIONS").parse().expect("a number")
}

fn context(key: usize) -> Context<'static> {
    HashMap::from([("key".to_string(), format!("{key:012}"))]).into()
}

fn main() {
    let (keys, decisions) = (number(1), number(2));
    let limiter = RateLimiter::new(2 * keys as u64);
    let variable = "key".try_into().expect("an expression");
    limiter.add_limit(Limit::new("bench", 1_000_000, 3_000, vec![], vec![variable]));
    let namespace = "bench".into();
    let contexts: Vec<Context> = (0..keys).map(context).collect();
    let take = |place: usize| {
        let answer = limiter.check_rate_limited_and_update(&namespace, &contexts[place], 1);
        assert!(!answer.expect("a decision").limited);
    };
    (0..keys).for_each(take);
    let begin = Instant::now();
    (0..decisions).for_each(|turn| take(turn * 7919 % keys));
    println!("{:.0}", begin.elapsed().as_nanos() as f64 / decisions as f64);
}
