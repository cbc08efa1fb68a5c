//! An external store in the server's own memory: without limit, and gone with the server.

use std::collections::HashMap;

use super::{ExternalError, ExternalStore};
use crate::ids::ExternalKey;

/// `-e hashtable://...`.
#[derive(Debug, Default)]
pub struct Hashtable {
    contents: HashMap<ExternalKey, Vec<u8>>,
}

impl ExternalStore for Hashtable {
    fn put(&mut self, key: ExternalKey, contents: Vec<u8>) -> Result<(), ExternalError> {
        self.contents.insert(key, contents);
        Ok(())
    }

    fn get(&mut self, key: ExternalKey) -> Result<Vec<u8>, ExternalError> {
        let contents = self.contents.get(&key).cloned();
        contents.ok_or_else(|| ExternalError("it is not in the hash table".to_owned()))
    }

    fn remove(&mut self, key: ExternalKey) -> Result<(), ExternalError> {
        self.contents.remove(&key);
        Ok(())
    }
}
