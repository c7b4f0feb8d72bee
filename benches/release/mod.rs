//! The data of a benchmark: the current release of an index, or the bundled snapshot.

use catalog::Catalog;
use release::ReleaseStore;

pub fn catalog(index: Option<&str>) -> Catalog {
    match index {
        None => catalog::bundled().expect("the bundled snapshot"),
        Some(folder) => {
            let releases = ReleaseStore::at(folder);
            let version = releases.current().expect("an index").expect("a current release");
            releases.open(version).expect("the release").catalog
        }
    }
}
