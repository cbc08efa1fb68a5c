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
            235, 313, 314, 347, 370, 509, 723, 777, 783, 795, 899, 952, 1055, 1339, 1365, 1451,
            1494, 1537, 1592, 1631, 1757, 1863, 1882, 1888, 1931, 1976, 2108, 2173, 2185, 2381,
            2404, 2542, 2737, 2772, 2970, 3105, 3281, 3320, 3350, 3378, 3449, 3520, 3576, 3583,
            3779, 3933, 3947, 3963,
        ],
    ),
    (
        "frames",
        &[
            8, 92, 144, 219, 289, 313, 335, 370, 452, 460, 509, 687, 730, 754, 893, 899, 953, 1014,
            1058, 1125, 1142, 1304, 1326, 1365, 1448, 1486, 1494, 1502, 1538, 1552, 1557, 1592,
            1701, 1759, 1863, 1876, 1882, 1889, 1931, 2004, 2089, 2157, 2173, 2404, 2416, 2580,
            2633, 2732, 2843, 2909, 2978, 3264, 3378, 3511, 3598, 3647, 3782, 3914, 3929, 3933,
            3937, 3944, 3963, 3997,
        ],
    ),
    (
        "requests",
        &[
            110, 157, 236, 239, 313, 351, 407, 492, 555, 629, 687, 730, 777, 781, 846, 851, 893,
            899, 953, 1032, 1084, 1145, 1279, 1304, 1407, 1448, 1520, 1618, 1620, 1757, 1863, 1865,
            1882, 1931, 2108, 2137, 2144, 2233, 2254, 2300, 2443, 2456, 2513, 2580, 2657, 2779,
            2872, 2922, 3036, 3154, 3189, 3378, 3435, 3499, 3511, 3512, 3520, 3691, 3835, 3914,
            3930, 3933, 3963, 3996,
        ],
    ),
    (
        "store",
        &[
            92, 202, 226, 313, 320, 511, 571, 693, 730, 781, 813, 819, 850, 893, 899, 1169, 1242,
            1246, 1339, 1635, 1819, 1832, 1863, 1918, 2089, 2144, 2154, 2178, 2190, 2507, 2583,
            2633, 2669, 2732, 2761, 3037, 3063, 3200, 3321, 3410, 3417, 3532, 3647, 3691, 3786,
            3876, 3908, 3963,
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
    let odd_percent = sequence.one_of([50, 75, 90, 97]);
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
