//! Tests that an object store has the properties that indexers rely on.

use crate::remote::RemoteStore;
use crate::remote::objects::StoredObject;
use crate::{ReleaseError, ReleaseResult};

impl RemoteStore {
    /// Writes, replaces and removes a test object. Returns the store's deviations.
    pub fn probe(&self) -> ReleaseResult<Vec<&'static str>> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|error| self.objects.error("probe", error))?;
        let name = format!("probe/{:016x}", u64::from_le_bytes(random));
        let found = self.probe_object(&name);
        let removed = self.objects.remove(&name);
        let found = found?;
        removed?;
        Ok(found)
    }

    fn probe_object(&self, name: &str) -> ReleaseResult<Vec<&'static str>> {
        let mut wrong = Vec::new();
        let mut check = |is_right: bool, problem| {
            if !is_right {
                wrong.push(problem);
            }
        };
        let read = || self.objects.get(name, 1 << 10);
        let has = |bytes: &[u8]| Ok::<_, ReleaseError>(read()?.is_some_and(|found| found.bytes == bytes));
        let replace = |content: &[u8], read: Option<&StoredObject>| self.objects.replace(name, content.to_vec(), read);
        check(replace(b"1", None)?, "an object that does not exist is not created (If-None-Match: *)");
        check(has(b"1")?, "an object that was just created is not read back");
        check(!replace(b"2", None)?, "an object is created again though it exists: If-None-Match: * is ignored");
        let first = read()?;
        check(replace(b"3", first.as_ref())?, "an unchanged object is not replaced (If-Match)");
        check(has(b"3")?, "an object that was just replaced is read as it was before");
        let is_replaced = replace(b"4", first.as_ref())?;
        check(!is_replaced, "an object that has changed since is replaced: If-Match is ignored");
        Ok(wrong)
    }
}
