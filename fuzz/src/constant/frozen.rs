//! The checksums of a frozen file, made again from the description of the format: the reader meets
//! content then that no writer has made.

use rapidhash::v3::{RapidSecrets, rapidhash_v3_inline};

const HEAD: usize = 128;
const MAGIC: [u8; 8] = *b"TavolaFZ";

fn sum(bytes: &[u8]) -> u64 {
    let secrets = RapidSecrets::seed_cpp(u64::from_le_bytes(MAGIC));
    rapidhash_v3_inline::<true, false, false>(bytes, &secrets)
}

fn word(bytes: &[u8], at: usize) -> usize {
    let word = bytes[at..at + 8].try_into().expect("eight bytes");
    usize::try_from(u64::from_le_bytes(word)).unwrap_or(usize::MAX)
}

/// Makes all checksums right, as far as the head says where they are.
pub(super) fn seal(bytes: &mut [u8]) {
    if bytes.len() < HEAD || !bytes.starts_with(&MAGIC) {
        return;
    }
    let (end, sums_start) = (word(bytes, 16), word(bytes, 80));
    let block_bytes = word(bytes, 92) & u32::MAX as usize;
    if (HEAD..=bytes.len()).contains(&sums_start) && block_bytes > 0 {
        let blocks = bytes[HEAD..sums_start].chunks(block_bytes);
        let sums: Vec<u8> = blocks.flat_map(|block| sum(block).to_le_bytes()).collect();
        for (place, byte) in bytes[sums_start..].iter_mut().zip(sums) {
            *place = byte;
        }
        if let Some(sums) = bytes.get(sums_start..end) {
            let whole = sum(sums).to_le_bytes();
            bytes[96..104].copy_from_slice(&whole);
        }
    }
    let head = sum(&bytes[..120]).to_le_bytes();
    bytes[120..HEAD].copy_from_slice(&head);
}
