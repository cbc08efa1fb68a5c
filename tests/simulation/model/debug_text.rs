//! The text about the state of the store.

use plasma_store::ids::ClientId;
use plasma_store::protocol::message::Reply;
use plasma_store::store::Effect;

use super::{Model, Object};

/// The lines that do not belong to a client, and how many each client with a quota has.
const COMMON_LINES: usize = 11;
const CLIENT_LINES: usize = 5;

impl Model {
    pub(super) fn expect_debug_text(&mut self, client: ClientId) {
        let expected = self.debug_text();
        match self.effects.pop_front() {
            Some(Effect::Reply { client: to, reply: Reply::DebugString(found) }) => {
                assert_eq!(to, client);
                let found = String::from_utf8_lossy(&found).replace("-nan", "nan");
                let (found, expected) = (sorted(&found), sorted(&expected));
                assert_eq!(found.join("\n"), expected.join("\n"), "debug text");
            }
            other => panic!("{other:?} instead of the debug text"),
        }
    }

    fn debug_text(&self) -> String {
        let accounted: Vec<&Object> =
            self.objects.iter().filter(|object| self.is_accounted(object.serial)).collect();
        let pinned = self.objects.iter().filter(|object| object.is_pinned());
        let reserved_bytes: u64 = self.quotas.iter().map(|quota| quota.limit_bytes).sum();
        let mut lines = vec![
            format!("num clients with quota: {}", self.quotas.len()),
            format!("quota map size: {}", accounted.len()),
            format!(
                "pinned quota map size: {}",
                accounted.iter().filter(|object| object.is_pinned()).count()
            ),
            format!("allocated bytes: {}", self.memory_bytes()),
            format!("allocation limit: {}", self.capacity_bytes),
            format!("pinned bytes: {}", pinned.map(Object::size_bytes).sum::<u64>()),
        ];
        push_lines(
            &mut lines,
            "global lru",
            (self.capacity_bytes - reserved_bytes, self.capacity_bytes, self.shared_bytes()),
            (self.shared.queue.len(), self.shared.evictions, self.shared.evicted_bytes),
        );
        for quota in &self.quotas {
            let sizes = quota.queue.iter().map(|serial| self.object(*serial).size_bytes());
            push_lines(
                &mut lines,
                &String::from_utf8_lossy(&quota.label),
                (quota.limit_bytes, quota.limit_bytes, sizes.sum()),
                (quota.queue.len(), quota.evictions, quota.evicted_bytes),
            );
        }
        lines.join("\n")
    }
}

fn push_lines(
    lines: &mut Vec<String>,
    label: &str,
    (capacity, original, used): (u64, u64, u64),
    (objects, evictions, evicted): (usize, u64, u64),
) {
    let float = |bytes: i128| u32::try_from(bytes).map(f64::from).expect("tests are small");
    let free = i128::from(capacity) - i128::from(used);
    let free = if free < 0 { -float(-free) } else { float(free) };
    let percent = 100.0 * (1.0 - free / float(i128::from(original)));
    lines.extend([
        format!("({label}) capacity: {capacity}"),
        format!("({label}) used: {}%", general(percent)),
        format!("({label}) num objects: {objects}"),
        format!("({label}) num evictions: {evictions}"),
        format!("({label}) bytes evicted: {evicted}"),
    ]);
}

/// As `%g` prints it.
fn general(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf".to_owned() } else { "-inf".to_owned() };
    }
    let scientific = format!("{value:.5e}");
    let (mantissa, exponent) = scientific.split_once('e').expect("it has an exponent");
    let exponent: i32 = exponent.parse().expect("a number");
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    match exponent {
        -4..=5 => trim(&format!("{value:.*}", usize::try_from(5 - exponent).expect("0 to 9"))),
        _ if exponent < 0 => format!("{}e-{:02}", trim(mantissa), -exponent),
        _ => format!("{}e+{exponent:02}", trim(mantissa)),
    }
}

/// The text with the clients in a fixed order.
fn sorted(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.split('\n').collect();
    let common = lines.len().min(COMMON_LINES);
    let mut parts: Vec<String> =
        lines[common..].chunks(CLIENT_LINES).map(|part| part.join("\n")).collect();
    parts.sort();
    parts.insert(0, lines[..common].join("\n"));
    parts
}
