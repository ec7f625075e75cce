//! Members of gzip, one behind the other (RFC 1952). What follows the last of them is left alone, as browsers do.

use std::io::{self, Write as _};

use super::Kept;

/// First byte of a member.
pub(super) const MEMBER: u8 = 0x1f;

/// Decoder of one or more members.
pub(super) struct Gunzip {
    member: flate2::write::GzDecoder<Kept>,
    /// The last member has ended.
    ended: bool,
}

impl Gunzip {
    pub(super) fn new(kept: Kept) -> Self {
        Self {
            member: flate2::write::GzDecoder::new(kept),
            ended: false,
        }
    }

    pub(super) fn take(&mut self, mut piece: &[u8]) -> io::Result<()> {
        while !self.ended && !piece.is_empty() {
            let taken = self.member.write(piece)?;
            piece = &piece[taken..];
            if taken > 0 {
                continue;
            }
            self.member.try_finish()?;
            // what follows and is no member, such as padding, is left alone, as browsers do
            if piece[0] == MEMBER {
                let kept = std::mem::replace(self.member.get_mut(), Kept::new(0));
                self.member = flate2::write::GzDecoder::new(kept);
            } else {
                self.ended = true;
            }
        }
        Ok(())
    }

    pub(super) fn finish(&mut self) -> io::Result<()> {
        if self.ended {
            Ok(())
        } else {
            self.member.try_finish()
        }
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.member.flush()
    }

    pub(super) fn kept(&mut self) -> &mut Kept {
        self.member.get_mut()
    }
}
