//! Decoding of compressed answers, piece by piece and never beyond a limit.

use std::fmt;
use std::io::{self, Write};

use bytes::Bytes;
use flate2::write::{MultiGzDecoder, ZlibDecoder};
use hyper::header::{CONTENT_ENCODING, HeaderMap};

/// Decoder of an answer's pieces.
pub(super) enum PieceDecoder {
    Plain,
    Gzip(Box<MultiGzDecoder<LimitedBuffer>>),
    Deflate(Box<ZlibDecoder<LimitedBuffer>>),
    Brotli(Box<brotli_decompressor::DecompressorWriter<LimitedBuffer>>),
    Zstd(Box<zstd::stream::write::Decoder<'static, LimitedBuffer>>),
    /// An encoding that is not known, or bytes that are not of the announced one.
    Broken,
}

impl fmt::Debug for PieceDecoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PieceDecoder")
    }
}

impl PieceDecoder {
    /// The decoder that the headers ask for. More than `limit` bytes are not decoded.
    pub(super) fn of(headers: &HeaderMap, limit: usize) -> Self {
        const BUFFER: usize = 32 << 10;
        let out = LimitedBuffer { bytes: Vec::new(), left: limit };
        let mut encodings = headers.get_all(CONTENT_ENCODING).iter();
        let Some(encoding) = encodings.next() else { return Self::Plain };
        if encodings.next().is_some() {
            return Self::Broken;
        }
        match encoding.to_str().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Self::Plain,
            "gzip" | "x-gzip" => Self::Gzip(Box::new(MultiGzDecoder::new(out))),
            "deflate" => Self::Deflate(Box::new(ZlibDecoder::new(out))),
            "br" => {
                Self::Brotli(Box::new(brotli_decompressor::DecompressorWriter::new(out, BUFFER)))
            }
            "zstd" => zstd::stream::write::Decoder::new(out)
                .map_or(Self::Broken, |decoder| Self::Zstd(Box::new(decoder))),
            _ => Self::Broken,
        }
    }

    /// Decodes a piece; none once something is wrong with the answer.
    pub(super) fn push(&mut self, piece: &Bytes) -> Option<Bytes> {
        fn decode<W: Write>(
            decoder: &mut W,
            piece: &[u8],
            out: impl FnOnce(&mut W) -> &mut LimitedBuffer,
        ) -> Option<Bytes> {
            decoder.write_all(piece).and_then(|()| decoder.flush()).ok()?;
            Some(std::mem::take(&mut out(decoder).bytes).into())
        }
        let decoded = match self {
            Self::Plain => return Some(piece.clone()),
            Self::Gzip(decoder) => decode(&mut **decoder, piece, |it| it.get_mut()),
            Self::Deflate(decoder) => decode(&mut **decoder, piece, |it| it.get_mut()),
            Self::Brotli(decoder) => decode(&mut **decoder, piece, |it| it.get_mut()),
            Self::Zstd(decoder) => decode(&mut **decoder, piece, |it| it.get_mut()),
            Self::Broken => None,
        };
        if decoded.is_none() {
            *self = Self::Broken;
        }
        decoded
    }
}

/// Bytes up to a limit; more is an error.
pub(super) struct LimitedBuffer {
    bytes: Vec<u8>,
    left: usize,
}

impl Write for LimitedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.left = self.left.checked_sub(bytes.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn headers(encoding: &'static str) -> HeaderMap {
        [(CONTENT_ENCODING, encoding.parse().expect("a value"))].into_iter().collect()
    }

    fn gzip(text: &[u8]) -> Bytes {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).expect("memory");
        encoder.finish().expect("memory").into()
    }

    #[test]
    fn an_encoded_answer_is_decoded_however_it_is_cut() {
        let text = "data: {\"a\":1}\n\n".repeat(50);
        let zstd = zstd::encode_all(text.as_bytes(), 3).expect("memory");
        for (encoding, bytes) in [
            ("gzip", gzip(text.as_bytes())),
            ("zstd", zstd.into()),
            ("identity", text.clone().into()),
        ] {
            for size in [1, 7, 1000] {
                let mut decoder = PieceDecoder::of(&headers(encoding), 1 << 20);
                let mut out = Vec::new();
                for piece in bytes.chunks(size) {
                    out.extend(decoder.push(&Bytes::copy_from_slice(piece)).expect(encoding));
                }
                assert_eq!(String::from_utf8(out).expect("text"), text, "{encoding} by {size}");
            }
        }
    }

    #[test]
    fn a_bomb_ends_at_the_limit_and_garbage_at_once() {
        let bomb = gzip(&vec![0; 10 << 20]);
        let mut decoder = PieceDecoder::of(&headers("gzip"), 1 << 20);
        assert_eq!(decoder.push(&bomb), None);
        assert_eq!(decoder.push(&bomb), None);
        let mut decoder = PieceDecoder::of(&headers("gzip"), 1 << 20);
        assert_eq!(decoder.push(&Bytes::from_static(b"not gzip at all")), None);
        let mut decoder = PieceDecoder::of(&headers("rot13"), 1 << 20);
        assert_eq!(decoder.push(&Bytes::from_static(b"uryyb")), None);
    }
}
