//! Quotas, eviction, and the memory itself.

use plasma_store::ids::{ClientId, Extent, ObjectId};
use plasma_store::protocol::message::{Notice, Reply, Status};
use plasma_store::store::{Progress, Reservation};

use super::{Candidate, Eviction, Model, Quota, Serial, State};
use crate::memory::Call;

/// There is no place for an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NoRoom {
    Never,
    Later,
}

/// A place for an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) extent: Option<Extent>,
    /// Memory has to be reserved first.
    pub(super) slow: bool,
}

/// An attempt to place something failed.
enum NoSpot {
    Full,
    Never,
}

/// Objects start at multiples of this.
const ALIGN_BYTES: u64 = 64;

/// What is at least as large as the first takes whole pages of the second size.
const PAGED_BYTES: (u64, u64) = (128 << 10, 4 << 10);

impl Model {
    /// `creator` is `None` for an object that comes back: quotas do not count it.
    pub(super) fn place(
        &mut self,
        creator: Option<ClientId>,
        size_bytes: u64,
        may_evict: bool,
    ) -> Result<Spot, NoRoom> {
        self.make_room(creator, size_bytes, may_evict)?;
        loop {
            match self.try_place(size_bytes) {
                Ok(spot) => return Ok(spot),
                Err(NoSpot::Never) => return Err(NoRoom::Never),
                Err(NoSpot::Full) => self.evict_round(size_bytes, may_evict)?,
            }
        }
    }

    /// By the count of bytes and objects. For what cannot fit nothing is evicted.
    fn make_room(
        &mut self,
        creator: Option<ClientId>,
        size_bytes: u64,
        may_evict: bool,
    ) -> Result<(), NoRoom> {
        if size_bytes > self.capacity_bytes {
            return Err(NoRoom::Never);
        }
        let (demoted, quota_victims) = match creator {
            Some(client) => self.quota_step(client, size_bytes, may_evict)?,
            None => (Vec::new(), Vec::new()),
        };
        let gone_bytes: u64 = self.leaving_bytes() + self.sizes(&quota_victims);
        let needed_bytes = self.memory_bytes() + size_bytes;
        let lacking_bytes = needed_bytes.saturating_sub(gone_bytes + self.capacity_bytes);
        let needed_objects = self.objects.len() + usize::from(creator.is_some());
        let lacking_objects = needed_objects.saturating_sub(self.max_objects);
        if lacking_bytes > 0 && (!may_evict || lacking_bytes > self.shared_bytes()) {
            return Err(NoRoom::Never);
        }
        // What is spilled stays an object.
        let evictable_objects = self.shared.queue.len() + quota_victims.len();
        if lacking_objects > 0
            && (!may_evict || self.has_external_store || evictable_objects < lacking_objects)
        {
            return Err(NoRoom::Never);
        }
        if let Some(quota) = creator.and_then(|client| self.quota_of(client)) {
            quota.evictions += (demoted.len() + quota_victims.len()) as u64;
        }
        let counted_bytes = self.sizes(&demoted) + self.sizes(&quota_victims);
        if let Some(quota) = creator.and_then(|client| self.quota_of(client)) {
            quota.evicted_bytes += counted_bytes;
        }
        for serial in demoted {
            self.turn("an own object is demoted for a quota");
            self.forget_order(serial);
        }
        let mut evicted_objects = quota_victims.len();
        for serial in quota_victims {
            self.turn("an own object is evicted for a quota");
            self.evict(serial, None);
        }
        if lacking_bytes > 0 {
            let target_bytes = lacking_bytes.max(self.capacity_bytes / 5);
            evicted_objects += self.evict_oldest(target_bytes, None).len();
        }
        for _ in evicted_objects..lacking_objects {
            self.turn("objects are evicted to limit their number");
            self.evict_one(None);
        }
        if self.memory_bytes() + size_bytes > self.capacity_bytes {
            return Err(self.later_or_never());
        }
        Ok(())
    }

    fn sizes(&self, serials: &[Serial]) -> u64 {
        serials.iter().map(|serial| self.object(*serial).size_bytes()).sum()
    }

    /// What leaves the creator's own queue: those that are only demoted, and those evicted.
    fn quota_step(
        &mut self,
        client: ClientId,
        size_bytes: u64,
        may_evict: bool,
    ) -> Result<(Vec<Serial>, Vec<Serial>), NoRoom> {
        let Some(quota) = self.quota_of(client) else {
            return Ok((Vec::new(), Vec::new()));
        };
        let (queue, limit_bytes) = (quota.queue.clone(), quota.limit_bytes);
        if size_bytes > limit_bytes {
            return Err(NoRoom::Never);
        }
        let (mut demoted, mut evicted) = (Vec::new(), Vec::new());
        let mut used_bytes = self.sizes(&queue);
        for serial in queue {
            if used_bytes + size_bytes <= limit_bytes {
                break;
            }
            if !may_evict {
                return Err(NoRoom::Never);
            }
            let object = self.object(serial);
            used_bytes -= object.size_bytes();
            if object.is_pinned() { demoted.push(serial) } else { evicted.push(serial) }
        }
        Ok((demoted, evicted))
    }

    /// One round, because memory could not be had though the count allowed for it.
    fn evict_round(&mut self, size_bytes: u64, may_evict: bool) -> Result<(), NoRoom> {
        if !may_evict || self.shared.queue.is_empty() {
            let is_leaving = self.leaving_bytes() > 0;
            return Err(if is_leaving { NoRoom::Later } else { NoRoom::Never });
        }
        self.turn("objects are evicted since memory is refused");
        self.evict_oldest(size_bytes.max(self.capacity_bytes / 5), None);
        if self.has_external_store { Err(self.later_or_never()) } else { Ok(()) }
    }

    /// What cannot be copied out stays, so nobody waits for it twice.
    fn later_or_never(&self) -> NoRoom {
        if self.spilling_fails && self.retrying { NoRoom::Never } else { NoRoom::Later }
    }

    /// Without rounding up. What goes to the external store is counted when it has left memory.
    pub(super) fn evict_on_request(&mut self, client: ClientId, bytes: u64) -> Progress {
        let number = self.number();
        let sizes = self.evict_oldest(bytes, Some(number));
        if self.has_external_store && !sizes.is_empty() {
            self.evictions.push(Eviction { number, client, left: sizes.len(), evicted_bytes: 0 });
            return Progress::Pause;
        }
        self.expect_reply(client, Reply::Evict { bytes: sizes.into_iter().sum() });
        Progress::Done
    }

    /// Evicts from the old end of the shared queue until the bytes are reached, and returns sizes.
    fn evict_oldest(&mut self, target_bytes: u64, request: Option<u64>) -> Vec<u64> {
        let mut sizes = Vec::new();
        while sizes.iter().sum::<u64>() < target_bytes && !self.shared.queue.is_empty() {
            sizes.push(self.evict_one(request));
        }
        sizes
    }

    fn evict_one(&mut self, request: Option<u64>) -> u64 {
        let tie = self.shared.queue[0].tie;
        let tied = self.shared.queue.iter().take_while(|candidate| candidate.tie == tie);
        let tied: Vec<Candidate> = tied.copied().collect();
        if tied.len() > 1 {
            self.turn("an order is left open");
        }
        let hint = self.next_departure();
        let is_hinted = |candidate: &Candidate| Some(self.object(candidate.serial).id) == hint;
        let position = tied.iter().position(is_hinted);
        assert!(position.is_some() || tied.len() == 1 || hint.is_some(), "nothing tells which");
        let serial = tied[position.unwrap_or(0)].serial;
        let size_bytes = self.object(serial).size_bytes();
        self.shared.evictions += 1;
        self.shared.evicted_bytes += size_bytes;
        self.evict(serial, request);
        size_bytes
    }

    fn evict(&mut self, serial: Serial, request: Option<u64>) {
        if self.has_external_store {
            self.forget_order(serial);
            self.expect_spill(serial, request);
        } else {
            let id = self.object(serial).id;
            self.remove(serial);
            self.expect_notices(vec![Notice::Deleted(id)]);
        }
    }

    // ---- memory ----

    /// Follows the store's attempts to find memory: twice at most, with free pages given back
    /// in between.
    fn try_place(&mut self, size_bytes: u64) -> Result<Spot, NoSpot> {
        if size_bytes == 0 {
            return Ok(Spot { extent: None, slow: false });
        }
        for _ in 0..2 {
            let Some((extent, claimed_bytes, answer)) = self.next_attempt(size_bytes) else {
                return Err(NoSpot::Full);
            };
            self.check_place(extent, size_bytes);
            let rounded = |extent: Extent| {
                let (least_bytes, page_bytes) = PAGED_BYTES;
                let is_paged = extent.size_bytes >= least_bytes;
                let unit_bytes = if is_paged { page_bytes } else { ALIGN_BYTES };
                extent.size_bytes.next_multiple_of(unit_bytes)
            };
            let taken_bytes: u64 = self.extents().map(rounded).sum();
            // What is free but was touched comes on top; the allocator's own tests count that.
            let handed_out_bytes = taken_bytes + rounded(extent);
            assert!(claimed_bytes >= handed_out_bytes, "what is handed out is claimed");
            match answer {
                Reservation::Ready => return Ok(Spot { extent: Some(extent), slow: false }),
                Reservation::Slow => {
                    self.turn("memory is reserved slowly");
                    return Ok(Spot { extent: Some(extent), slow: true });
                }
                Reservation::Never => {
                    self.turn("memory is refused for ever");
                    return Err(NoSpot::Never);
                }
                Reservation::Full => self.turn("memory is refused for now"),
            }
        }
        Err(NoSpot::Full)
    }

    /// The next place that the store considered, or `None` if it found none and was refused a
    /// segment.
    fn next_attempt(&mut self, size_bytes: u64) -> Option<(Extent, u64, Reservation)> {
        self.take_released_pages();
        if let Some(Call::AddSegment(min_bytes, segment)) = self.calls.front().cloned() {
            self.calls.pop_front();
            assert_eq!(min_bytes, size_bytes, "the segment is asked for this object");
            let is_refused = segment.is_none();
            self.turn(if is_refused { "a segment is refused" } else { "a segment is added" });
            self.segments.push(segment?);
        }
        match self.calls.pop_front() {
            Some(Call::Reserve(extent, live_bytes, answer)) => Some((extent, live_bytes, answer)),
            other => panic!("{other:?} instead of an attempt to place {size_bytes} bytes"),
        }
    }

    fn check_place(&self, extent: Extent, size_bytes: u64) {
        assert_eq!(extent.size_bytes, size_bytes);
        assert_eq!(extent.offset_bytes % ALIGN_BYTES, 0, "{extent:?} is not aligned");
        assert_ne!(extent.offset_bytes, 0, "offset 0 means missing");
        let segment = self.segments.iter().find(|info| info.segment == extent.segment);
        assert!(extent.end_bytes() <= segment.expect("a known segment").range_bytes);
        self.check_free(extent);
    }

    fn check_free(&self, extent: Extent) {
        for other in self.extents().chain(self.releasing.iter().copied()) {
            let is_apart = other.segment != extent.segment
                || other.end_bytes() <= extent.offset_bytes
                || extent.end_bytes() <= other.offset_bytes;
            assert!(is_apart, "{extent:?} is not free: {other:?}");
        }
    }

    /// Pages may be given back at any time, if nobody uses them.
    pub(super) fn take_released_pages(&mut self) {
        while let Some(Call::ReleasePages(extent)) = self.calls.front().cloned() {
            self.calls.pop_front();
            self.turn("pages are given back at once");
            self.check_free(extent);
        }
    }

    /// The contents of a whole object must be written now; whether that worked.
    pub(super) fn is_written(&mut self, place: Extent) -> bool {
        self.take_released_pages();
        let mut offset_bytes = place.offset_bytes;
        while offset_bytes < place.end_bytes() {
            match self.calls.pop_front() {
                Some(Call::Write(extent, done))
                    if (extent.segment, extent.offset_bytes) == (place.segment, offset_bytes)
                        && extent.end_bytes() <= place.end_bytes() =>
                {
                    if !done {
                        return false;
                    }
                    offset_bytes = extent.end_bytes();
                }
                other => panic!("{other:?} instead of a write to {place:?} from {offset_bytes}"),
            }
        }
        true
    }

    /// The store gives the pages of free memory back, and keeps it free until that is done.
    pub(crate) fn pages_leave(&mut self, extent: Extent) {
        self.turn("pages are given back in the background");
        self.releasing.push(extent);
    }

    pub(crate) fn pages_released(&mut self, extent: Extent) {
        let position = self.releasing.iter().position(|other| *other == extent);
        self.releasing.swap_remove(position.expect("it is being released"));
    }

    // ---- quotas and order ----

    pub(super) fn set_options(
        &mut self,
        client: ClientId,
        label: &[u8],
        quota_bytes: i64,
    ) -> Status {
        self.client_mut(client).name = label.to_vec();
        let reserved_bytes: u64 = self.quotas.iter().map(|quota| quota.limit_bytes).sum();
        let left =
            i128::from(self.capacity_bytes) - i128::from(reserved_bytes) - i128::from(quota_bytes);
        let leaves_enough = left * 10 >= i128::from(self.capacity_bytes) * 3;
        let limit_bytes = u64::try_from(quota_bytes);
        match limit_bytes {
            Ok(limit_bytes) if leaves_enough && self.quota_of(client).is_none() => {
                let label = self.client_mut(client).name.clone();
                self.quotas.push(Quota {
                    owner: client,
                    label,
                    limit_bytes,
                    queue: Vec::new(),
                    evictions: 0,
                    evicted_bytes: 0,
                });
                Status::Ok
            }
            _ => Status::OutOfMemory,
        }
    }

    /// The client is gone: what was its own is everybody's, in its order, as most recently used.
    pub(super) fn return_quota(&mut self, client: ClientId) {
        let Some(position) = self.quotas.iter().position(|quota| quota.owner == client) else {
            return;
        };
        for serial in self.quotas.remove(position).queue {
            if !self.object(serial).is_pinned() {
                let tie = self.number();
                self.shared.queue.push(Candidate { serial, tie });
                self.room_changed = true;
                self.turn("a quota returns");
            }
        }
    }

    /// Makes an object the most recently used one of its queue.
    pub(super) fn refresh(&mut self, id: ObjectId) {
        let Some(serial) = self.serial_of(&id) else {
            return;
        };
        let tie = self.number();
        let is_it = |candidate: &Candidate| candidate.serial == serial;
        if let Some(position) = self.shared.queue.iter().position(is_it) {
            self.shared.queue.remove(position);
            self.shared.queue.push(Candidate { serial, tie });
        }
        for quota in &mut self.quotas {
            if let Some(position) = quota.queue.iter().position(|other| *other == serial) {
                quota.queue.remove(position);
                quota.queue.push(serial);
            }
        }
    }

    /// Whether `serial` can be evicted for others.
    pub(super) fn becomes_evictable(&mut self, serial: Serial) {
        debug_assert_eq!(self.object(serial).state, State::Sealed);
        let tie = self.number();
        self.shared.queue.push(Candidate { serial, tie });
    }
}
