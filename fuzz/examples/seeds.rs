//! Makes the seed corpus again: `cargo run --example seeds`.
//!
//! A seed is made from a number: bytes that are random but for their lowest bits, which decide how
//! long lists are and whether optional parts are there, so that inputs are longer and fuller than
//! random bytes would be. `README.md` says how the numbers were chosen.

#![allow(clippy::disallowed_methods, reason = "this program is there to write files")]

use std::fs;
use std::io;
use std::path::Path;

/// The numbers of the seeds of each target.
const NUMBERS: [(&str, &[u64]); 4] = [
    (
        "allocator",
        &[
            33, 191, 233, 235, 236, 245, 270, 333, 382, 449, 587, 621, 854, 866, 952, 965, 984,
            1002, 1029, 1055, 1250, 1304, 1339, 1389, 1476, 1493, 1494, 1516, 1593, 1712, 1723,
            1757, 1872, 1888, 1916, 1938, 1952, 2010, 2286, 2293, 2329, 2525, 2541, 2552, 2614,
            2772, 2843, 2904, 2917, 3032, 3350, 3378, 3383, 3414, 3439, 3660, 3695, 3741, 3742,
            3812, 3860, 3933, 3963, 3974,
        ],
    ),
    (
        "frames",
        &[
            8, 34, 245, 349, 365, 382, 449, 587, 680, 687, 715, 822, 823, 824, 854, 965, 1002,
            1056, 1152, 1211, 1304, 1326, 1476, 1481, 1486, 1494, 1557, 1593, 1609, 1661, 1835,
            1879, 1898, 1937, 2012, 2058, 2084, 2120, 2247, 2286, 2368, 2490, 2552, 2614, 2772,
            2829, 2866, 2949, 2958, 3023, 3175, 3204, 3264, 3377, 3378, 3482, 3499, 3528, 3812,
            3928, 3929, 3933, 3963, 3974,
        ],
    ),
    (
        "requests",
        &[
            8, 85, 127, 151, 382, 388, 432, 485, 555, 629, 687, 741, 761, 851, 854, 1014, 1304,
            1351, 1358, 1390, 1448, 1457, 1593, 1628, 1634, 1757, 1804, 1824, 1985, 2058, 2068,
            2088, 2108, 2143, 2144, 2186, 2252, 2286, 2333, 2435, 2480, 2513, 2552, 2728, 2739,
            2779, 2838, 2891, 2922, 2928, 3219, 3222, 3389, 3459, 3467, 3482, 3499, 3539, 3599,
            3742, 3841, 3933, 3963, 3974,
        ],
    ),
    (
        "store",
        &[
            15, 18, 191, 236, 245, 279, 308, 317, 377, 382, 473, 503, 634, 681, 732, 734, 760, 972,
            1077, 1133, 1137, 1182, 1304, 1317, 1326, 1379, 1419, 1486, 1494, 1557, 1616, 1672,
            1691, 1808, 1841, 1935, 1989, 2144, 2210, 2235, 2261, 2336, 2397, 2407, 2552, 2603,
            2627, 2656, 2712, 2758, 2769, 2779, 2831, 2843, 3202, 3289, 3350, 3377, 3378, 3391,
            3710, 3741, 3812, 3977,
        ],
    ),
];

/// A sequence that a number begins (splitmix64).
struct Sequence(u64);

impl Sequence {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn one_of<T: Copy>(&mut self, choices: [T; 4]) -> T {
        choices[usize::try_from(self.below(4)).expect("a few")]
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[7]
    }
}

fn seed(number: u64) -> Vec<u8> {
    let mut sequence = Sequence(number);
    let longest = 64 << sequence.below(7);
    let length = 128 + sequence.below(longest);
    let odd_percent = sequence.one_of([60, 90, 97, 99]);
    let small_percent = sequence.one_of([0, 0, 25, 50]);
    let byte = |_| {
        let is_small = sequence.below(100) < small_percent;
        let byte = if is_small { sequence.one_of([0, 1, 2, 0xff]) } else { sequence.byte() };
        byte | u8::from(sequence.below(100) < odd_percent)
    };
    (0..length).map(byte).collect()
}

fn write(folder: &Path, numbers: impl Iterator<Item = u64>) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for number in numbers {
        fs::write(folder.join(format!("{number:05}")), seed(number))?;
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        [] => {
            let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
            for (target, numbers) in NUMBERS {
                let folder = seeds.join(target);
                if folder.exists() {
                    fs::remove_dir_all(&folder)?;
                }
                write(&folder, numbers.iter().copied())?;
            }
            Ok(())
        }
        ["candidates", count, folder] => {
            let count = count.parse().map_err(io::Error::other)?;
            write(Path::new(folder), 0..count)
        }
        _ => Err(io::Error::other("usage: seeds [candidates COUNT FOLDER]")),
    }
}
