//! Reads the tags of the XML in workbooks before `calamine` does, which holds each text and each tag in memory and goes on
//! reading one when its end is missing. So the XML must be well formed: each element ends in the one that holds it.

use xxhash_rust::xxh3::xxh3_64;

use crate::sources::input::limits::{self, LimitExceeded};

/// Fault of a part of a workbook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum PartFault {
    #[error(transparent)]
    Limit(LimitExceeded),
    #[error("the part {0}; save the workbook again")]
    Damaged(&'static str),
}

impl From<LimitExceeded> for PartFault {
    fn from(exceeded: LimitExceeded) -> Self {
        Self::Limit(exceeded)
    }
}

pub(super) enum XmlEvent<'t> {
    /// Also of an element without content, followed by its end.
    Start(XmlTag<'t>),
    /// Local name of an element.
    End(&'t [u8]),
    /// Number of bytes, in one or several pieces.
    Text(u64),
}

/// The text of a start tag between its angle brackets.
#[derive(Clone, Copy)]
pub(super) struct XmlTag<'t>(&'t [u8]);

impl<'t> XmlTag<'t> {
    pub(super) fn bytes(self) -> &'t [u8] {
        self.0
    }

    fn name(self) -> &'t [u8] {
        self.0.split(u8::is_ascii_whitespace).next().unwrap_or_default()
    }

    pub(super) fn local_name(self) -> &'t [u8] {
        local(self.name())
    }

    /// Number in the attribute with this local name; `None` if there is no such attribute or no number in it.
    pub(super) fn number(self, name: &[u8]) -> Option<u64> {
        std::str::from_utf8(self.attribute(name)?).ok()?.trim().parse().ok()
    }

    /// True if the attribute with this local name has one of these values.
    pub(super) fn has(self, name: &[u8], values: &[&[u8]]) -> bool {
        self.attribute(name).is_some_and(|value| values.contains(&value))
    }

    fn attribute(self, name: &[u8]) -> Option<&'t [u8]> {
        let mut rest = &self.0[self.name().len()..];
        loop {
            let equals = rest.iter().position(|byte| *byte == b'=')?;
            let found = local(rest[..equals].trim_ascii()) == name;
            let value = rest[equals + 1..].trim_ascii_start();
            let (quote, value) = value.split_first()?;
            let end = value.iter().position(|byte| byte == quote)?;
            if found {
                return Some(&value[..end]);
            }
            rest = &value[end + 1..];
        }
    }
}

fn local(name: &[u8]) -> &[u8] {
    name.iter().rposition(|byte| *byte == b':').map_or(name, |colon| &name[colon + 1..])
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ScanState {
    Text,
    /// In a tag, and in a quoted value if there is a mark.
    Tag(Option<u8>),
    /// In a comment, text or instruction that ends with this.
    Until(&'static [u8]),
}

pub(super) struct XmlScan {
    state: ScanState,
    /// The tag so far, or the end of a comment, text or instruction.
    tag: Vec<u8>,
    /// Bytes of the text, comment or instruction so far.
    run: u64,
    /// Hashes of the names of open elements.
    open: Vec<u64>,
    has_begun: bool,
}

type Receiver<'r> = &'r mut dyn FnMut(XmlEvent<'_>) -> Result<(), PartFault>;

const COMMENT: &[u8] = b"!--";
const CDATA: &[u8] = b"![CDATA[";

impl XmlScan {
    pub(super) fn new() -> Self {
        Self { state: ScanState::Text, tag: Vec::new(), run: 0, open: Vec::new(), has_begun: false }
    }

    /// Reads the next bytes.
    pub(super) fn scan(&mut self, mut bytes: &[u8], to: Receiver<'_>) -> Result<(), PartFault> {
        if !self.has_begun {
            self.has_begun = true;
            // UTF-16 begins with a mark or has a zero in every other byte.
            if matches!(bytes, [0xfe, 0xff, ..] | [0xff, 0xfe, ..]) || bytes.iter().take(4).any(|byte| *byte == 0) {
                return Err(PartFault::Damaged("is not in UTF-8"));
            }
        }
        while let [first, rest @ ..] = bytes {
            match self.state {
                ScanState::Text => {
                    let end = bytes.iter().position(|byte| *byte == b'<');
                    self.add_text(end.unwrap_or(bytes.len()), to)?;
                    let Some(end) = end else { return Ok(()) };
                    bytes = &bytes[end + 1..];
                    self.tag.clear();
                    self.run = 0;
                    self.state = ScanState::Tag(None);
                }
                ScanState::Tag(quote) => {
                    bytes = rest;
                    self.add_to_tag(*first, quote, to)?;
                }
                ScanState::Until(end) => {
                    bytes = rest;
                    self.add_until(*first, end, to)?;
                }
            }
        }
        Ok(())
    }

    /// Checks that the document has ended.
    pub(super) fn finish(&self) -> Result<(), PartFault> {
        match self.state == ScanState::Text && self.open.is_empty() {
            true => Ok(()),
            false => Err(PartFault::Damaged("is cut off")),
        }
    }

    fn add_text(&mut self, length: usize, to: Receiver<'_>) -> Result<(), PartFault> {
        self.run += length as u64;
        limits::FIELD.check(self.run)?;
        if length > 0 { to(XmlEvent::Text(length as u64)) } else { Ok(()) }
    }

    fn add_to_tag(&mut self, byte: u8, quote: Option<u8>, to: Receiver<'_>) -> Result<(), PartFault> {
        let is_end_tag = self.tag.first() == Some(&b'/');
        match (quote, byte) {
            (None, b'>') => {
                self.state = ScanState::Text;
                return self.end_tag(to);
            }
            (None, b'"' | b'\'') if !is_end_tag => self.state = ScanState::Tag(Some(byte)),
            (Some(quote), _) if quote == byte => self.state = ScanState::Tag(None),
            _ => {}
        }
        self.tag.push(byte);
        limits::MARKUP.check(self.tag.len() as u64)?;
        if let [first @ (b'!' | b'?'), ..] = *self.tag {
            self.state = match &*self.tag {
                _ if first == b'?' => ScanState::Until(b"?>"),
                COMMENT => ScanState::Until(b"-->"),
                CDATA => ScanState::Until(b"]]>"),
                tag if COMMENT.starts_with(tag) || CDATA.starts_with(tag) => ScanState::Tag(None),
                _ => return Err(PartFault::Damaged("has a document type")),
            };
            if self.state != ScanState::Tag(None) {
                self.tag.clear();
            }
        }
        Ok(())
    }

    fn add_until(&mut self, byte: u8, end: &'static [u8], to: Receiver<'_>) -> Result<(), PartFault> {
        if self.tag.len() == end.len() {
            self.tag.remove(0);
        }
        self.tag.push(byte);
        if self.tag == end {
            self.state = ScanState::Text;
            self.run = 0;
            return Ok(());
        }
        if end == b"]]>" {
            return self.add_text(1, to);
        }
        self.run += 1;
        Ok(limits::MARKUP.check(self.run)?)
    }

    /// Ends a tag, whose text is complete.
    fn end_tag(&mut self, to: Receiver<'_>) -> Result<(), PartFault> {
        const WRONG: PartFault = PartFault::Damaged("has an element that does not end where it should");
        if let [b'/', name @ ..] = &*self.tag {
            let name = name.trim_ascii_end();
            return match self.open.pop() == Some(xxh3_64(name)) {
                true => to(XmlEvent::End(local(name))),
                false => Err(WRONG),
            };
        }
        let (text, is_empty) = self.tag.strip_suffix(b"/").map_or((&*self.tag, false), |text| (text, true));
        let tag = XmlTag(text);
        if tag.name().is_empty() {
            return Err(WRONG);
        }
        limits::XML_DEPTH.check(self.open.len() as u64 + 1)?;
        to(XmlEvent::Start(tag))?;
        if is_empty {
            return to(XmlEvent::End(tag.local_name()));
        }
        self.open.push(xxh3_64(tag.name()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of a text that comes in pieces, such as `<a +3 >a`, and the fault that ends them.
    fn events(text: &[u8], size: usize) -> (String, Option<PartFault>) {
        let (mut found, mut scan) = (String::new(), XmlScan::new());
        let mut result = Ok(());
        for piece in text.chunks(size) {
            result = result.and_then(|()| {
                scan.scan(piece, &mut |event| {
                    match event {
                        XmlEvent::Start(tag) => found.push_str(&format!("<{} ", tag.local_name().escape_ascii())),
                        XmlEvent::End(name) => found.push_str(&format!(">{} ", name.escape_ascii())),
                        XmlEvent::Text(bytes) => found.push_str(&"+".repeat(bytes as usize)),
                    }
                    Ok(())
                })
            });
        }
        (found, result.and_then(|()| scan.finish()).err())
    }

    #[test]
    fn tags_and_texts_are_found_in_pieces_of_any_size() {
        let text = b"<?xml a='>'?><x:a b=\"1>2\" c='\"'>ab<!-- <no> - -- --><b/><![CDATA[<]]]]></x:a >";
        for size in [1, 2, 3, 7, 1_000] {
            let (found, fault) = events(text, size);
            assert_eq!(fault, None, "{size}");
            assert_eq!(found.replace('+', ""), "<a <b >b >a ", "{size}");
            assert!(found.starts_with("<a ++<b >b "), "{found}");
        }
    }

    #[test]
    fn xml_that_is_not_well_formed_or_above_a_limit_is_refused() {
        for (text, fault) in [
            ("<a><b></a></b>".to_owned(), "does not end where it should"),
            ("<a>".to_owned(), "is cut off"),
            ("<a b='".to_owned(), "is cut off"),
            ("<!DOCTYPE a [<!ENTITY b 'c'>]><a/>".to_owned(), "has a document type"),
            ("\u{0}<\u{0}a".to_owned(), "is not in UTF-8"),
            ("<a>".repeat(300), "the limit `xml-depth`"),
            (format!("<a>{}</a>", "x".repeat(2 << 20)), "the limit `field`"),
            (format!("<a><![CDATA[{}]]></a>", "x".repeat(2 << 20)), "the limit `field`"),
            (format!("<a b=\"{}\"/>", "x".repeat(2 << 20)), "the limit `markup`"),
            (format!("<a><!--{}--></a>", "x".repeat(2 << 20)), "the limit `markup`"),
        ] {
            let found = events(text.as_bytes(), 4_096).1.map(|found| found.to_string()).unwrap_or_default();
            assert!(found.contains(fault), "{fault}: {found}");
        }
    }

    #[test]
    fn numbers_are_attributes() {
        let tag = XmlTag(b"t:cell a='1' t:number-columns-repeated = \"12\" b=\"x\"");
        assert_eq!(tag.number(b"number-columns-repeated"), Some(12));
        assert_eq!((tag.number(b"a"), tag.number(b"b"), tag.number(b"c")), (Some(1), None, None));
    }
}
