//! The state of host memory as text, to the letter of the original server: clients search it.

use std::vec;

use super::Store;
use crate::eviction::QueueStats;
use crate::format_g::format_g6;

/// The text, while it is written.
#[derive(Debug)]
pub(super) struct DebugText {
    text: Vec<u8>,
    /// What is not written yet.
    quotas: vec::IntoIter<QueueStats>,
}

impl DebugText {
    /// How many quotas are not written yet.
    pub(super) fn left(&self) -> usize {
        self.quotas.len()
    }

    /// Writes of so many quotas.
    pub(super) fn write(&mut self, quotas: usize) {
        for stats in self.quotas.by_ref().take(quotas) {
            push_queue(&mut self.text, &stats.label, &stats);
        }
    }

    /// The text, when all is written.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.text
    }
}

impl Store {
    /// The text up to the quotas, and what they are at this time.
    pub(super) fn debug_text(&self) -> DebugText {
        let pool = &self.pools.host;
        let policy = &pool.eviction;
        let quotas: Vec<QueueStats> = policy.quota_stats().collect();
        let mut text = format!(
            "num clients with quota: {}\n\
             quota map size: {}\n\
             pinned quota map size: {}\n\
             allocated bytes: {}\n\
             allocation limit: {}\n\
             pinned bytes: {}",
            quotas.len(),
            policy.quota_objects(),
            policy.quota_pinned_objects(),
            pool.memory_bytes,
            pool.capacity_bytes,
            policy.pinned_bytes(),
        )
        .into_bytes();
        push_queue(&mut text, b"global lru", &policy.global_stats());
        DebugText { text, quotas: quotas.into_iter() }
    }
}

fn push_queue(text: &mut Vec<u8>, label: &[u8], stats: &QueueStats) {
    let rows = [
        ("capacity", stats.capacity_bytes.to_string()),
        ("used", format!("{}%", format_g6(used_percent(stats)))),
        ("num objects", stats.objects.to_string()),
        ("num evictions", stats.evictions.to_string()),
        ("bytes evicted", stats.evicted_bytes.to_string()),
    ];
    for (name, value) in rows {
        text.extend_from_slice(b"\n(");
        text.extend_from_slice(label);
        text.extend_from_slice(format!(") {name}: {value}").as_bytes());
    }
}

/// What is not free, against the whole. What others have reserved counts as used.
fn used_percent(stats: &QueueStats) -> f64 {
    let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    let free_bytes = signed(stats.capacity_bytes) - signed(stats.used_bytes);
    100.0 * (1.0 - to_f64(free_bytes) / to_f64(signed(stats.original_capacity_bytes)))
}

/// Six digits are printed, so that the loss beyond 2^53 does not show.
#[expect(clippy::cast_precision_loss)]
fn to_f64(bytes: i64) -> f64 {
    bytes as f64
}
